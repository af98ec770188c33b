// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

/// Values by file descriptor: keys of four bytes beside values, in one row each, by a hash of one multiplication.
///
/// O(1). Memory: at most twice the bytes of a key and a value for each entry, and more only while fewer than a quarter
/// of the cells are used.
package struct DescriptorMap<Value: BitwiseCopyable>: ~Copyable {
    private static var free: CInt { -1 }

    // SAFETY: both have `capacity` cells, a power of two; a cell whose key is `free` has no value.
    private var keys: UnsafeMutablePointer<CInt>
    private var values: UnsafeMutablePointer<Value>
    private var capacity = 0
    package private(set) var count = 0

    package init() {
        keys = .allocate(capacity: 0)
        values = .allocate(capacity: 0)
    }

    deinit {
        keys.deallocate()
        values.deallocate()
    }

    /// Precondition for the setter: the descriptor is not negative.
    package subscript(descriptor: CInt) -> Value? {
        get {
            guard count > 0 else { return nil }
            let index = find(descriptor)
            return keys[index] == Self.free ? nil : values[index]
        }
        set {
            if let newValue { set(newValue, descriptor) } else { _ = remove(descriptor) }
        }
    }

    /// Removes and returns the value of a descriptor, if it has one.
    package mutating func remove(_ descriptor: CInt) -> Value? {
        guard count > 0 else { return nil }
        var hole = find(descriptor)
        if keys[hole] == Self.free { return nil }
        let removed = values[hole]
        count -= 1
        // The values behind it that were displaced move back, so that no look-up ends at the hole.
        var next = hole
        while true {
            next = (next + 1) & (capacity - 1)
            let key = keys[next]
            if key == Self.free { break }
            let distance = (next - home(key)) & (capacity - 1)
            if distance >= (next - hole) & (capacity - 1) {
                keys[hole] = key
                values[hole] = values[next]
                hole = next
            }
        }
        keys[hole] = Self.free
        if capacity > 16, count * 4 < capacity { resize(to: capacity / 2) }
        return removed
    }

    package mutating func removeAll() {
        count = 0
        resize(to: 0)
    }

    package func visit(_ body: (CInt, Value) -> Void) {
        for index in 0..<capacity where keys[index] != Self.free { body(keys[index], values[index]) }
    }

    private mutating func set(_ value: Value, _ descriptor: CInt) {
        precondition(descriptor >= 0, "\(descriptor) is no descriptor.")
        if (count + 1) * 8 > capacity * 7 { resize(to: max(8, capacity * 2)) }
        let index = find(descriptor)
        if keys[index] == Self.free { count += 1 }
        keys[index] = descriptor
        values[index] = value
    }

    /// The index of the cell of a descriptor, or of the free cell where it belongs.
    private func find(_ descriptor: CInt) -> Int {
        var index = home(descriptor)
        while keys[index] != descriptor, keys[index] != Self.free { index = (index + 1) & (capacity - 1) }
        return index
    }

    // The kernel gives out the smallest free number: descriptors are neighbours. In neighbouring cells they would leave no
    // free one between them, at which a removal could end; the golden ratio puts them as far from each other as there is
    // room.
    private func home(_ descriptor: CInt) -> Int {
        Int((UInt64(UInt32(bitPattern: descriptor) &* 0x9E37_79B9) &* UInt64(capacity)) >> 32)
    }

    private mutating func resize(to newCapacity: Int) {
        let (oldKeys, oldValues, oldCapacity) = (keys, values, capacity)
        keys = .allocate(capacity: newCapacity)
        keys.initialize(repeating: Self.free, count: newCapacity)
        values = .allocate(capacity: newCapacity)
        capacity = newCapacity
        if count > 0 {
            for index in 0..<oldCapacity where oldKeys[index] != Self.free {
                let new = find(oldKeys[index])
                keys[new] = oldKeys[index]
                values[new] = oldValues[index]
            }
        }
        oldKeys.deallocate()
        oldValues.deallocate()
    }
}
