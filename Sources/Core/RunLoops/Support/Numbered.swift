// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

/// Makes the structure that contains it one that the compiler passes by its address.
///
/// Otherwise a call of a method that does not mutate, and is not inlined, first copies the whole structure to the stack: 288
/// bytes of ``GuardedState``, a twelfth of the instructions of an event.
struct PassedByAddress: ~Copyable {
    // Swift 6.2 refuses to read a part of such a structure where the structure is borrowed; there it is copied.
    #if compiler(>=6.3)
    // An atomic has to stay where it is.
    private let atomic = Atomic<UInt8>(0)
    #endif
}

/// Values that cannot be copied, each with a number: its index.
///
/// A value keeps its number; only the last can be removed. A value is used where it is, without a copy and without
/// reference counting; `inout` and `mutating` prove at compile time that nothing else uses it meanwhile.
/// - Complexity: all operations are O(1), adding amortised.
struct Numbered<Element: ~Copyable>: ~Copyable {
    // SAFETY: of `capacity` values, the first `count` of which are initialised.
    private(set) var base: UnsafeMutablePointer<Element>
    private var capacity: Int
    private(set) var count = 0

    init(capacity: Int = 4) {
        self.capacity = capacity
        base = .allocate(capacity: capacity)
    }

    deinit {
        base.deinitialize(count: count)
        base.deallocate()
    }

    subscript(number: Int) -> Element {
        // SAFETY: a number is one that append returned, for a value of this container.
        unsafeAddress {
            assert(number >= 0 && number < count)
            return UnsafePointer(base + number)
        }
        unsafeMutableAddress {
            assert(number >= 0 && number < count)
            return base + number
        }
    }

    /// Adds a value; returns its number.
    @discardableResult
    mutating func append(_ element: consuming Element) -> Int {
        if count == capacity {
            let larger = UnsafeMutablePointer<Element>.allocate(capacity: capacity * 2)
            larger.moveInitialize(from: base, count: count)
            base.deallocate()
            (base, capacity) = (larger, capacity * 2)
        }
        (base + count).initialize(to: element)
        count += 1
        return count - 1
    }

    mutating func removeLast() {
        count -= 1
        (base + count).deinitialize(count: 1)
    }

    /// The number of the first value for which `condition` holds.
    func first(where condition: (borrowing Element) -> Bool) -> Int? {
        for number in 0..<count where condition(base[number]) { return number }
        return nil
    }
}
