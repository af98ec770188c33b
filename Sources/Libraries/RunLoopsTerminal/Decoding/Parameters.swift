// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

/// The parameters of a control sequence: numbers in groups, at most 32 of them.
struct Parameters {
    static let capacity = 32
    /// The largest number; a larger one in a sequence, which has no meaning, counts as this one.
    private static let largest = 0xFF_FFFF
    private static let missing = -1

    private var values: [Int] = []
    /// A bit for each value that belongs to the group of the value before it.
    private var inner: UInt32 = 0
    private(set) var isTooLong = false

    init() { values.reserveCapacity(Self.capacity) }

    var isEmpty: Bool { values.isEmpty }

    mutating func removeAll() {
        values.removeAll(keepingCapacity: true)
        inner = 0
        isTooLong = false
    }

    mutating func append(digit: Int) {
        if values.isEmpty { values.append(Self.missing) }
        let last = values.count - 1
        values[last] = min(Self.largest, max(0, values[last]) * 10 + digit)
    }

    /// Begins the next number after a semicolon, or after a colon, which continues the group.
    mutating func separate(inGroup: Bool) {
        if values.isEmpty { values.append(Self.missing) }
        guard values.count < Self.capacity else {
            isTooLong = true
            return
        }
        if inGroup { inner |= 1 << UInt32(values.count) }
        values.append(Self.missing)
    }

    private func isInner(_ index: Int) -> Bool { inner & 1 << UInt32(index) != 0 }

    /// The numbers of a group; a missing number is `nil`.
    subscript(group number: Int) -> [Int?] {
        var group = -1
        var result: [Int?] = []
        for index in values.indices {
            if !isInner(index) { group += 1 }
            if group == number { result.append(values[index] == Self.missing ? nil : values[index]) }
        }
        return result
    }

    /// The first number of a group.
    subscript(number: Int) -> Int? { self[number, 0] }

    /// A number of a group.
    subscript(number: Int, place: Int) -> Int? {
        // Usually no value is inside a group, and the number is the index.
        if inner == 0 {
            guard place == 0, number < values.count, values[number] != Self.missing else { return nil }
            return values[number]
        }
        let numbers = self[group: number]
        return place < numbers.count ? numbers[place] : nil
    }

    /// The first numbers of all groups; a missing number is 0.
    var firsts: [Int] { values.indices.filter { !isInner($0) }.map { max(0, values[$0]) } }
}
