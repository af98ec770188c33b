// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

/// Gives each value a number, in the order in which the values were first seen, and keeps both until the process ends.
///
/// Thread safety: any thread.
/// - Complexity: one look-up in a table of all values, under a lock.
final class InternTable<Value: Hashable>: @unchecked Sendable {
    private let lock = Lock()
    // Both guarded by the lock.
    private var values: [Value]
    private var numbers: [Value: UInt32] = [:]

    /// The first values, which are all different, have the first numbers.
    init(_ first: [Value] = []) {
        values = first
        for (number, value) in first.enumerated() { numbers[value] = UInt32(number) }
    }

    func number(of value: Value) -> UInt32 {
        lock.withLock {
            if let number = numbers[value] { return number }
            let number = UInt32(values.count)
            values.append(value)
            numbers[value] = number
            return number
        }
    }

    subscript(number: UInt32) -> Value { lock.withLock { values[Int(number)] } }
}
