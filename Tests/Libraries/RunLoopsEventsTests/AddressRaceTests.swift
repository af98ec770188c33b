// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import Glibc
import RunLoops
import RunLoopsTestSupport
import Testing

@testable import RunLoopsEvents

@Suite(.limited) struct AddressRaceTests {
    private func race(_ hosts: String...) throws -> AddressRace {
        AddressRace(try hosts.map { try RunLoop.SocketAddress.internet($0, port: 1) })
    }

    private func order(_ hosts: String...) throws -> [String] {
        AddressRace(try hosts.map { try RunLoop.SocketAddress.internet($0, port: 1) }).addresses.map { "\($0)" }
    }

    @Test func `The families take turns, and the family of the first address is first`() throws {
        #expect(try order() == [])
        #expect(try order("::1", "::2", "::3", "0.0.0.1") == ["[::1]:1", "0.0.0.1:1", "[::2]:1", "[::3]:1"])
        #expect(
            try order("0.0.0.1", "0.0.0.2", "::1", "::2", "::3")
                == ["0.0.0.1:1", "[::1]:1", "0.0.0.2:1", "[::2]:1", "[::3]:1"])
        #expect(try order("0.0.0.1", "0.0.0.2") == ["0.0.0.1:1", "0.0.0.2:1"])
    }

    @Test func `A race is lost when each address was tried and each attempt has failed`() throws {
        let error = RunLoop.SystemCallError(call: "connect", code: ECONNREFUSED)
        var race = try race("::1", "0.0.0.1")
        #expect(!race.isLost)
        #expect(race.begin()?.number == 0)
        #expect(race.begin()?.address.description == "0.0.0.1:1")
        #expect(!race.hasMore)
        #expect(race.begin() == nil)
        race.fail(1, error)
        #expect(!race.isLost)
        #expect(race.attempts.map(\.error) == [nil, error])
        race.fail(0, error)
        #expect(race.isLost)
        #expect(race.attempts.map { "\($0.address)" } == ["[::1]:1", "0.0.0.1:1"])
    }
}
