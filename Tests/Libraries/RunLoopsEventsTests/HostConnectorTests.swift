// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import Glibc
import RunLoops
import RunLoopsConcurrency
import RunLoopsKit
import RunLoopsTestSupport
import Testing

@testable import RunLoopsEvents

/// Connections by name, with a resolver of the test's.
@Suite(.ownThread, .leavesNothing) struct HostConnectorTests {
    private static let host = RunLoop.HostAddress.host("test.example", 80)

    /// Threads whose resolver finds these addresses.
    private static func finding(_ addresses: [RunLoop.SocketAddress]) -> LookupThreads {
        LookupThreads(maxCount: 1) { _ in .success(addresses) }
    }

    /// Connects, and returns the outcome, the time that it took, and the longest time that the loop was awake at a stretch.
    private static func connect(
        _ loop: RunLoop, _ addresses: [RunLoop.SocketAddress], within limit: Duration = plenty
    ) throws -> (outcome: HostConnector.Outcome, time: Duration, longest: Duration) {
        let outcomes = Box<[HostConnector.Outcome]>([])
        let longest = Box(Duration.zero)
        let awakeSince = Box<RunLoop.Instant?>(nil)
        let observer = RunLoop.Observer([.beforeWaiting, .afterWaiting]) { _, activity in
            if let since = awakeSince.value { longest.value = max(longest.value, since.duration(to: .now)) }
            awakeSince.value = activity == .afterWaiting ? .now : nil
        }
        loop.add(observer, in: .default)
        let start = RunLoop.Instant.now
        let connector = try HostConnector(host, limit, finding(addresses), .here(nil, #fileID, #line)) {
            connector, outcome in
            #expect(!connector.isValid)
            outcomes.value.append(outcome)
        }
        add(connector, to: loop)
        loop.run { !outcomes.value.isEmpty }
        let time = start.duration(to: .now)
        observer.invalidate()
        #expect(loop.runPlenty() == .finished)
        #expect(outcomes.value.count == 1)
        return (try #require(outcomes.value.first), time, longest.value)
    }

    /// A port at which no socket listens.
    private static func closedAddress(_ host: String = "127.0.0.1") throws -> RunLoop.SocketAddress {
        let listener = try SocketListener.sendable(on: .internet(host, port: 0)) { _, _ in }
        listener.invalidate()
        return listener.address
    }

    /// The error of an outcome.
    private static func error(of outcome: HostConnector.Outcome) throws -> RunLoop.HostError {
        guard case .failure(let error) = outcome else { throw RunLoop.HostError(host, .unknownHost) }
        return error
    }

    // MARK: Names

    @Test func `HostConnector connects to localhost and to numeric addresses`() throws {
        try withLoop { loop in
            for name in ["localhost", "127.0.0.1"] {
                let listener = try SocketListener(on: .loopback()) { listener, _ in listener.invalidate() }
                add(listener, to: loop)
                let port = try #require(listener.address.port)
                let peer = Box<RunLoop.SocketAddress?>(nil)
                add(
                    try HostConnector(to: .host(name, port)) { _, outcome in
                        peer.value = try? outcome.get().peerAddress
                    }, to: loop)
                #expect(loop.runPlenty() == .finished)
                #expect(peer.value == listener.address, "\(name)")
            }
        }
    }

    @Test func `connect(to:) connects a task to a host, and addresses() returns the addresses`() async throws {
        let thread = try RunLoopThread(name: "connect")
        let listener = try SocketListener.sendable(on: .loopback()) { _, _ in }
        try thread.loop.add(listener, in: .default)
        let port = try #require(listener.address.port)
        let socket = try await thread.loop.connect(to: .host("localhost", port))
        #expect(socket.peerAddress == listener.address)
        #expect(try await RunLoop.HostAddress.host("localhost", port).addresses().contains(listener.address))
        #expect(try await RunLoop.HostAddress.host("::1", 7).addresses().map { "\($0)" } == ["[::1]:7"])
        end(thread)
    }

    @Test func `An unknown service, and a name with a zero byte, are errors that name the host`() async throws {
        let service = RunLoop.HostAddress.host("localhost", service: "no-such-service")
        await #expect(throws: RunLoop.HostError(service, .unknownService)) { try await service.addresses() }
        #expect("\(RunLoop.HostError(service, .unknownService))".hasPrefix("localhost:no-such-service: "))
        let cut = RunLoop.HostAddress.host("localhost\0.example", 80)
        let error = RunLoop.SystemCallError(call: "getaddrinfo", code: EINVAL)
        await #expect(throws: RunLoop.HostError(cut, .system(error))) { try await cut.addresses() }
    }

    @Test func `The description of a failed lookup has the host and the system's words`() {
        let error = RunLoop.HostError(Self.host, .lookupFailed(code: EAI_AGAIN))
        #expect("\(error)".hasPrefix("test.example:80: The lookup failed: "))
        #expect("\(error)".contains(String(cString: gai_strerror(EAI_AGAIN))))
    }

    // MARK: The race

    @Test(.enabled(if: hasIPv6, "this machine has no IPv6"))
    func `With a dead first and a slow third address the other family is connected after 250 ms`() throws {
        try withLoop { loop in
            let (dead, slow) = (try DeafAddress("::1"), try DeafAddress("::1"))
            let listener = try SocketListener.sendable(on: .loopback()) { _, _ in }
            var best = Duration.seconds(1000)
            var longest = best
            let isPrompt = try repeatUntilPrompt {
                let run = try Self.connect(loop, [dead.address, slow.address, listener.address])
                #expect(try run.outcome.get().peerAddress == listener.address)
                #expect(run.time >= .milliseconds(250))
                best = min(best, run.time)
                longest = min(longest, run.longest)
                return best <= .milliseconds(300) && longest <= .milliseconds(20)
            }
            #expect(isPrompt, "connected after \(best), the loop was awake for \(longest) at a stretch")
            print("connected after \(best), the loop awake for \(longest) at most")
        }
    }

    @Test func `An address that refuses is followed by the next one at once`() throws {
        try withLoop { loop in
            let listener = try SocketListener.sendable(on: .loopback()) { _, _ in }
            let refusing = try (0..<8).map { _ in try Self.closedAddress() }
            var best = Duration.seconds(1000)
            let isPrompt = try repeatUntilPrompt {
                let run = try Self.connect(loop, refusing + [listener.address])
                #expect(try run.outcome.get().peerAddress == listener.address)
                best = min(best, run.time)
                // Waiting for the time of even one attempt would take longer.
                return best < .milliseconds(250)
            }
            #expect(isPrompt, "connected after \(best)")
        }
    }

    @Test func `A slow address wins if it answers while the next ones are tried`() throws {
        try withLoop { loop in
            let (slow, dead) = (try DeafAddress("127.0.0.1"), try DeafAddress("127.0.0.1"))
            loop.performLocally(after: .milliseconds(300)) { slow.answer() }
            let run = try Self.connect(loop, [slow.address, dead.address])
            #expect(try run.outcome.get().peerAddress == slow.address)
        }
    }

    @Test func `If no address can be connected to, the error has each address and its error, in order`() throws {
        try withLoop { loop in
            let closed = try [Self.closedAddress(), Self.closedAddress("127.0.0.2")]
            let error = try Self.error(of: Self.connect(loop, closed).outcome)
            let refused = RunLoop.SystemCallError(call: "connect", code: ECONNREFUSED)
            #expect(error.reason == .unreachable)
            #expect(error.attempts == closed.map { RunLoop.HostError.Attempt($0, refused) })
            #expect("\(error)".hasPrefix("test.example:80: "))
            for address in closed { #expect("\(error)".contains("connect \(address): "), "\(error)") }
        }
    }

    @Test func `Without a free descriptor each attempt has the error EMFILE`() async {
        await #expect(processExitsWith: .success) {
            try withLoop { loop in
                let errors = Box<[RunLoop.HostError]>([])
                let listener = try SocketListener.sendable(on: .loopback()) { _, _ in }
                let threads = Self.finding([listener.address, listener.address])
                let connector = try HostConnector(Self.host, plenty, threads, .here(nil, #fileID, #line)) {
                    _, outcome in
                    if case .failure(let error) = outcome { errors.value.append(error) }
                }
                add(connector, to: loop)
                let scarcity = Scarcity(left: 0)
                loop.run { !errors.value.isEmpty }
                scarcity.end()
                let refused = RunLoop.SystemCallError(call: "socket", code: EMFILE)
                #expect(errors.value.map(\.reason) == [.unreachable])
                #expect(errors.value[0].attempts.map(\.error) == [refused, refused])
            }
        }
    }

    @Test func `At the time limit of addresses that do not answer, the error has the addresses without an error`()
        throws
    {
        try withLoop { loop in
            let dead = try DeafAddress("127.0.0.1")
            var limit = Duration.milliseconds(100)
            func connect() throws -> (error: RunLoop.HostError, time: Duration) {
                let run = try Self.connect(loop, [Self.closedAddress(), dead.address], within: limit)
                return (try Self.error(of: run.outcome), run.time)
            }
            var (error, time) = try connect()
            // On a busy machine the limit may pass before the lookup has returned, and the first address has refused.
            while error.attempts.map(\.error?.code) != [ECONNREFUSED, nil], limit < .seconds(20) {
                limit *= 2
                (error, time) = try connect()
            }
            #expect(error.reason == .tookTooLong(limit, .connecting))
            #expect(error.attempts.map(\.error?.code) == [ECONNREFUSED, nil])
            #expect("\(error)".contains("connect \(dead.address): no answer"))
            #expect(time >= limit)
        }
    }

    @Test func `The attempts are made in the modes of the connector alone`() throws {
        try withLoop { loop in
            let listener = try SocketListener.sendable(on: .loopback()) { _, _ in }
            let addresses = [try Self.closedAddress(), listener.address]
            let outcomes = Box(0)
            let connector = try HostConnector(Self.host, plenty, Self.finding(addresses), .here(nil, #fileID, #line)) {
                _, outcome in
                outcomes.value += 1
                #expect(loop.currentMode == "second")
            }
            add(connector, to: loop, in: "first")
            loop.remove(connector, from: "first")
            #expect(loop.run(in: "first", for: .zero) == .finished)
            add(connector, to: loop, in: "second")
            loop.run(in: .default, for: .milliseconds(5))
            #expect(outcomes.value == 0)
            #expect(loop.runPlenty("second") == .finished)
            #expect(outcomes.value == 1)
        }
    }

    // MARK: Lookups that hang

    /// A resolver that does not return until it is released, and counts its calls.
    private final class HangingResolver: Sendable {
        let calls = Locked(0)
        private let isReleased = Locked(false)
        let address: RunLoop.SocketAddress

        init(_ address: RunLoop.SocketAddress) { self.address = address }

        func threads(_ maxCount: Int) -> LookupThreads {
            LookupThreads(maxCount: maxCount) { [self] _ in
                calls.increment()
                waitUntil { isReleased.copy }
                return .success([address])
            }
        }

        func release() { isReleased.withLock { $0 = true } }
    }

    @Test func `While all threads hang, lookups wait in line, their time limits are over, and the loop goes on`() throws
    {
        try withLoop { loop in
            let listener = try SocketListener.sendable(on: .loopback()) { _, _ in }
            let resolver = HangingResolver(listener.address)
            let threads = resolver.threads(2)
            let limit = Duration.milliseconds(50)
            let reasons = Box<[Int: RunLoop.HostError.Reason]>([:])
            let ticks = Box(0)
            let timer = RunLoop.Timer(.every(.milliseconds(1))) { _ in ticks.value += 1 }
            loop.add(timer, in: .default)
            for number in 0..<4 {
                let connector = try HostConnector(Self.host, limit, threads, .here(nil, #fileID, #line)) { _, outcome in
                    if case .failure(let error) = outcome { reasons.value[number] = error.reason }
                }
                if number == 2 { waitUntil { resolver.calls.count == 2 } }
                add(connector, to: loop)
            }
            #expect(threads.threadCount == 2)
            #expect(threads.queueCount == 2)
            loop.run { reasons.value.count == 4 }
            #expect(reasons.value[0] == .tookTooLong(limit, .lookup))
            #expect(reasons.value[1] == .tookTooLong(limit, .lookup))
            #expect(reasons.value[2] == .tookTooLong(limit, .waitingForThread))
            #expect(reasons.value[3] == .tookTooLong(limit, .waitingForThread))
            #expect(ticks.value > 0)
            // They have left the line; the next one waits, and is served when a thread is free.
            #expect(threads.queueCount == 0)
            let isConnected = Box(false)
            add(
                try HostConnector(Self.host, plenty, threads, .here(nil, #fileID, #line)) { _, outcome in
                    isConnected.value = (try? outcome.get()) != nil
                }, to: loop)
            #expect(threads.queueCount == 1)
            resolver.release()
            loop.run { isConnected.value }
            #expect(isConnected.value)
            #expect(resolver.calls.count == 3)
            timer.invalidate()
            waitUntil { threads.threadCount == 0 }
            #expect(loop.runPlenty() == .finished)
        }
    }

    @Test func `The closure of a connector that is invalidated during its lookup is released and not called`() throws {
        try withLoop { loop in
            let resolver = HangingResolver(.loopback())
            let threads = resolver.threads(1)
            weak var token: Token?
            do {
                let kept = Token()
                token = kept
                let connector = try HostConnector(Self.host, plenty, threads, .here(nil, #fileID, #line)) { _, _ in
                    Issue.record("called: \(kept)")
                }
                add(connector, to: loop)
                waitUntil { resolver.calls.count == 1 }
                connector.invalidate()
            }
            #expect(token == nil)
            #expect(loop.runPlenty() == .finished)
            resolver.release()
            waitUntil { threads.threadCount == 0 }
            #expect(loop.runPlenty() == .finished)
        }
    }

    @Test func `Cancelling a task ends connect(to:) and addresses() while the lookup hangs or waits in line`()
        async throws
    {
        let thread = try RunLoopThread(name: "cancel")
        let resolver = HangingResolver(.loopback())
        let threads = resolver.threads(1)
        let tasks = (0..<3).map { _ in
            Task { try await thread.loop.connect(to: Self.host, within: plenty, by: threads, in: .common) }
        }
        let lookups = (0..<3).map { _ in Task { try await Self.host.addresses(by: threads) } }
        while resolver.calls.count < 1 || threads.queueCount < 5 { await Task.yield() }
        for task in tasks {
            task.cancel()
            await #expect(throws: CancellationError.self) { try await task.value }
        }
        for task in lookups {
            task.cancel()
            await #expect(throws: CancellationError.self) { try await task.value }
        }
        #expect(threads.queueCount == 0)
        resolver.release()
        while threads.threadCount > 0 { await Task.yield() }
        #expect(resolver.calls.count == 1)
        end(thread)
    }

    @Test func `connect(to:) throws ThreadEndedError if the loop's thread ends during the lookup`() async throws {
        let thread = try RunLoopThread(name: "ends")
        let resolver = HangingResolver(.loopback())
        let threads = resolver.threads(1)
        let task = Task { try await thread.loop.connect(to: Self.host, within: plenty, by: threads, in: .common) }
        while resolver.calls.count < 1 { await Task.yield() }
        end(thread)
        await #expect(throws: RunLoop.ThreadEndedError()) { try await task.value }
        resolver.release()
        while threads.threadCount > 0 { await Task.yield() }
    }

    @Test func `A forked child looks up names on threads of its own`() async {
        await #expect(processExitsWith: .success) {
            try withLoop { loop in
                let listener = try SocketListener.sendable(on: .loopback()) { _, _ in }
                let port = try #require(listener.address.port)
                // The types are used once before the fork; the thread has ended.
                let isConnected = Box(false)
                add(
                    try HostConnector(to: .host("localhost", port)) { _, outcome in
                        isConnected.value = (try? outcome.get()) != nil
                    }, to: loop)
                loop.run { isConnected.value }
                waitUntil { LookupThreads.shared.own.threadCount == 0 }
                let end = ForkedChild.run {
                    let own = RunLoop.current
                    let isConnected = Box(false)
                    add(
                        try HostConnector(to: .host("localhost", port)) { _, outcome in
                            isConnected.value = (try? outcome.get()) != nil
                        }, to: own)
                    own.run { isConnected.value }
                    return isConnected.value
                }
                #expect(end == .good)
            }
        }
    }
}
