// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import Glibc
import RunLoops
import RunLoopsEvents
import RunLoopsTestSupport
import Testing

/// Lookups by the system's resolver, which asks a DNS server of the test's.
@Suite(.limited) struct NameServerProcessTests {
    private static func connect(_ loop: RunLoop, _ name: String, _ port: UInt16 = 80, within limit: Duration = plenty)
        throws -> HostConnector.Outcome
    {
        let outcomes = Box<[HostConnector.Outcome]>([])
        add(try HostConnector(to: .host(name, port), within: limit) { outcomes.value.append($1) }, to: loop)
        #expect(loop.runPlenty() == .finished)
        return try #require(outcomes.value.first)
    }

    private static func reason(_ loop: RunLoop, _ name: String, within limit: Duration = plenty) throws
        -> RunLoop.HostError.Reason?
    {
        let outcome = try connect(loop, name, within: limit)
        guard case .failure(let error) = outcome else { return nil }
        #expect("\(error)".hasPrefix("\(name):80: "))
        return error.reason
    }

    @Test(.needsNameServer)
    func `Names of the DNS and of /etc/hosts are connected to, and a slow server does not hold the loop's thread`()
        async
    {
        await #expect(processExitsWith: .success) {
            try withLoop { loop in
                let mayAnswer = Permit()
                let server = try NameServer([
                    "four.example": .addresses(four: [127, 0, 0, 1], six: nil),
                    // The documentation's prefix (RFC 3849), to which no route leads.
                    "both.example": .addresses(
                        four: [127, 0, 0, 1], six: [0x20, 0x01, 0x0D, 0xB8] + Array(repeating: 0, count: 11) + [1]),
                    "slow.example": .held(mayAnswer, four: [127, 0, 0, 1]),
                ])
                useNameServer(hosts: "127.0.0.1 file.example\n")
                let listener = try SocketListener.sendable(on: .loopback()) { _, _ in }
                let port = try #require(listener.address.port)
                for name in ["four.example", "both.example", "slow.example"] {
                    let before = server.questions.count
                    // The server does not answer before the loop has called this timer, which a thread that waits for the resolver
                    // does not.
                    let timer = RunLoop.Timer(.every(.milliseconds(1))) { timer in
                        guard server.questions.count > before else { return }
                        timer.invalidate()
                        if name == "slow.example" { mayAnswer.signal() }
                    }
                    loop.add(timer, in: .default)
                    #expect(try Self.connect(loop, name, port).get().peerAddress == listener.address)
                    #expect(server.questions.count > before)
                }
                let asked = server.questions.count
                #expect(try Self.connect(loop, "file.example", port).get().peerAddress == listener.address)
                #expect(server.questions.count == asked)
            }
        }
    }

    @Test(.needsNameServer)
    func `A name that does not exist, a server that fails, wrong answers and lost answers are errors of the host`()
        async
    {
        await #expect(processExitsWith: .success) {
            try withLoop { loop in
                _ = try NameServer(["failing.example": .code(2), "wrong.example": .wrong, "lost.example": .lost])
                useNameServer()
                #expect(try Self.reason(loop, "absent.example") == .unknownHost)
                #expect(try Self.reason(loop, "failing.example") == .lookupFailed(code: EAI_AGAIN))
                #expect(try Self.reason(loop, "wrong.example") == .lookupFailed(code: EAI_AGAIN))
                var limit = Duration.milliseconds(50)
                var reason = try Self.reason(loop, "lost.example", within: limit)
                // On a busy machine the limit may pass before a thread has begun the lookup.
                while reason == .tookTooLong(limit, .waitingForThread) {
                    limit *= 2
                    reason = try Self.reason(loop, "lost.example", within: limit)
                }
                #expect(reason == .tookTooLong(limit, .lookup))
                // No other answer is expected of this resolver, so it need not be patient.
                useNameServer(timeout: 1)
                #expect(try Self.reason(loop, "lost.example") == .lookupFailed(code: EAI_AGAIN))
            }
        }
    }
}
