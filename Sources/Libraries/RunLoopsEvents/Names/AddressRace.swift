// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

internal import RunLoops

/// The attempts to connect to the addresses of one host, in the order of RFC 8305.
///
/// Pure: knows nothing of sockets and time.
struct AddressRace {
    /// In the order of the attempts.
    let addresses: [RunLoop.SocketAddress]
    private var begunCount = 0
    private var underWayCount = 0
    private var errors: [Int: RunLoop.SystemCallError] = [:]

    /// Makes a race of addresses in the order of preference: the families take turns, the first address's family first.
    ///
    /// - Complexity: O(n).
    init(_ preferred: [RunLoop.SocketAddress] = []) {
        let first = preferred.filter { $0.family == preferred[0].family }
        let second = preferred.filter { $0.family != preferred[0].family }
        addresses = (0..<max(first.count, second.count)).flatMap {
            first.dropFirst($0).prefix(1) + second.dropFirst($0).prefix(1)
        }
    }

    /// Whether an address was not tried yet.
    var hasMore: Bool { begunCount < addresses.count }
    /// Whether each address was tried, and each attempt has failed.
    var isLost: Bool { !hasMore && underWayCount == 0 }

    /// Begins the next attempt: its number and its address.
    mutating func begin() -> (number: Int, address: RunLoop.SocketAddress)? {
        guard hasMore else { return nil }
        defer {
            begunCount += 1
            underWayCount += 1
        }
        return (begunCount, addresses[begunCount])
    }

    /// Ends an attempt that has failed.
    mutating func fail(_ number: Int, _ error: RunLoop.SystemCallError) {
        errors[number] = error
        underWayCount -= 1
    }

    /// The attempts that were begun.
    var attempts: [RunLoop.HostError.Attempt] {
        (0..<begunCount).map { RunLoop.HostError.Attempt(addresses[$0], errors[$0]) }
    }
}
