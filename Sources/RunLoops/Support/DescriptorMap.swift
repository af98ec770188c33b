// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

/// Values by file descriptor: keys of four bytes beside values, in one row each, without a hash that costs more than the
/// look-up.
///
/// O(1). Memory: at most twice the bytes of a key and a value for each entry, and more only while fewer than a quarter of
/// the places are used.
package struct DescriptorMap<Value: BitwiseCopyable>: ~Copyable {
    private static var free: CInt { -1 }

    // SAFETY: both have `capacity` places, a power of two; a place whose key is `free` has no value.
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
            let place = find(descriptor)
            return keys[place] == Self.free ? nil : values[place]
        }
        set {
            if let newValue { set(newValue, descriptor) } else { _ = remove(descriptor) }
        }
    }

    /// Takes out the value of a descriptor, if it has one.
    package mutating func remove(_ descriptor: CInt) -> Value? {
        guard count > 0 else { return nil }
        var hole = find(descriptor)
        if keys[hole] == Self.free { return nil }
        let removed = values[hole]
        count -= 1
        // The values behind it that it pushed on move back, so that no look-up ends at the hole.
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
        for place in 0..<capacity where keys[place] != Self.free { body(keys[place], values[place]) }
    }

    private mutating func set(_ value: Value, _ descriptor: CInt) {
        precondition(descriptor >= 0, "\(descriptor) is no descriptor.")
        if (count + 1) * 8 > capacity * 7 { resize(to: max(8, capacity * 2)) }
        let place = find(descriptor)
        if keys[place] == Self.free { count += 1 }
        keys[place] = descriptor
        values[place] = value
    }

    /// The place of a descriptor, or the free place where it belongs.
    private func find(_ descriptor: CInt) -> Int {
        var place = home(descriptor)
        while keys[place] != descriptor, keys[place] != Self.free { place = (place + 1) & (capacity - 1) }
        return place
    }

    // The kernel gives out the smallest free number: descriptors are neighbours, which spread by themselves.
    private func home(_ descriptor: CInt) -> Int { Int(descriptor) & (capacity - 1) }

    private mutating func resize(to newCapacity: Int) {
        let (oldKeys, oldValues, oldCapacity) = (keys, values, capacity)
        keys = .allocate(capacity: newCapacity)
        keys.initialize(repeating: Self.free, count: newCapacity)
        values = .allocate(capacity: newCapacity)
        capacity = newCapacity
        if count > 0 {
            for place in 0..<oldCapacity where oldKeys[place] != Self.free {
                let new = find(oldKeys[place])
                keys[new] = oldKeys[place]
                values[new] = oldValues[place]
            }
        }
        oldKeys.deallocate()
        oldValues.deallocate()
    }
}
