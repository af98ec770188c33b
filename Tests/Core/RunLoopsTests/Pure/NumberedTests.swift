// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import RunLoopsTestSupport
import Testing

@testable import RunLoops

/// The container of values that cannot be copied.
@Suite(.ownThread) struct NumberedTests {
    private struct Value: ~Copyable {
        var number: Int
        let token: AnyObject?
    }

    @Test func `append returns ascending numbers, and a value keeps its number while the container grows`() {
        var values = Numbered<Value>(capacity: 1)
        for number in 0..<100 { #expect(values.append(Value(number: number, token: nil)) == number) }
        let numbers = (0..<values.count).map { values[$0].number }
        #expect(numbers == Array(0..<100))
    }

    @Test func `A change of a value through its subscript stays`() {
        var values = Numbered<Value>()
        values.append(Value(number: 1, token: nil))
        values.append(Value(number: 2, token: nil))
        values[1].number += 5
        let numbers = (0..<values.count).map { values[$0].number }
        #expect(numbers == [1, 7])
    }

    @Test func `first returns the number of the first value for which the condition holds`() {
        var values = Numbered<Value>()
        for number in [4, 7, 7] { values.append(Value(number: number, token: nil)) }
        let (seventh, ninth) = (values.first { $0.number == 7 }, values.first { $0.number == 9 })
        #expect(seventh == 1)
        #expect(ninth == nil)
    }

    @Test func `A container releases each value once, after it has grown as well`() {
        let witnesses = (0..<9).map { _ in Witness() }
        do {
            var values = Numbered<Value>(capacity: 2)
            for witness in witnesses { values.append(Value(number: 0, token: witness.makeToken())) }
            #expect(witnesses.allSatisfy { !$0.isGone })
            _ = consume values
        }
        #expect(witnesses.allSatisfy { $0.isGone })
    }
}
