// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

/// A value that cells show by its number: a character of several scalars, or the address of a link.
///
/// Each grid keeps the values that its cells show. So a number keeps its value while a cell has it, and memory grows with
/// what is shown, not with what was ever shown.
final class Numbered<Value: Hashable & Sendable>: Sendable {
    let number: UInt32
    let value: Value
    private let table: NumberTable<Value>

    fileprivate init(_ number: UInt32, _ value: Value, _ table: NumberTable<Value>) {
        (self.number, self.value, self.table) = (number, value, table)
    }

    deinit { table.remove(number, value) }
}

/// The values of one kind that have a number.
///
/// A number that has lost its value stands for no other value later: a cell or a style with an old number shows nothing of
/// another one.
final class NumberTable<Value: Hashable & Sendable>: Sendable {
    private struct Weak {
        weak var object: Numbered<Value>?
    }

    private struct State {
        var numbers: [Value: UInt32] = [:]
        /// The objects by their numbers.
        ///
        /// The reference is `nil` while an object ends and has not removed itself yet.
        var objects: [UInt32: Weak] = [:]
        /// The objects that were made last, in a ring.
        var recent: [Numbered<Value>] = []
        var oldest = 0
        var nextNumber: UInt32
    }

    /// How many values are kept although nothing has them, so that a number can be made first and shown later.
    let recentCount: Int
    private let lastNumber: UInt32
    private let state: Mutex<State>

    /// Makes an empty table, which gives each of its numbers once.
    init(numbers: ClosedRange<UInt32>, recentCount: Int) {
        self.recentCount = recentCount
        lastNumber = numbers.upperBound
        state = Mutex(State(nextNumber: numbers.lowerBound))
    }

    /// Returns the only object of a value, which is made if there is none; `nil` if all numbers were given.
    func make(_ value: Value) -> Numbered<Value>? {
        // What leaves the ring is released after the lock: its end takes the lock too.
        let (object, _) = state.withLock { state -> (Numbered<Value>?, Numbered<Value>?) in
            if let number = state.numbers[value], let known = state.objects[number]?.object { return (known, nil) }
            if state.nextNumber > lastNumber { return (nil, nil) }
            let object = Numbered(state.nextNumber, value, self)
            state.nextNumber += 1
            state.numbers[value] = object.number
            state.objects[object.number] = Weak(object: object)
            if state.recent.count < recentCount {
                state.recent.append(object)
                return (object, nil)
            }
            let old = state.recent[state.oldest]
            state.recent[state.oldest] = object
            state.oldest = (state.oldest + 1) % recentCount
            return (object, old)
        }
        return object
    }

    /// Returns the object of a number; `nil` if nothing has kept it.
    func find(_ number: UInt32) -> Numbered<Value>? { state.withLock { $0.objects[number]?.object } }

    fileprivate func remove(_ number: UInt32, _ value: Value) {
        state.withLock { state in
            // Meanwhile the value may have got another number.
            if state.numbers[value] == number { state.numbers[value] = nil }
            state.objects[number] = nil
        }
    }
}
