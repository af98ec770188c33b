// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import Glibc
import RunLoops
import RunLoopsEvents
import RunLoopsTestSupport
import RunLoopsTesting
import Testing

@Suite(.ownThread, .leavesNothing) struct NotifySocketTests {
    // MARK: States

    @Test(arguments: ["path", "abstract"])
    func `All states of one send arrive in one datagram, at a path or an abstract address`(
        _ kind: String
    ) throws {
        let directory = TemporaryDirectory()
        let manager = ServiceManagerStandIn(
            kind == "path" ? directory.path("notify") : "@run-loops-\(getpid())-states")
        let notify = try NotifySocket(manager.path)
        try notify.send(.ready, .status("Serving, 3 clients; naïve = true"), .mainPID(42), .errno(ENOENT))
        #expect(
            manager.next() == ["READY=1", "STATUS=Serving, 3 clients; naïve = true", "MAINPID=42", "ERRNO=\(ENOENT)"])
        try notify.send(.stopping, .extendTimeout(.milliseconds(1_500)), .watchdogInterval(.seconds(20)))
        #expect(manager.next() == ["STOPPING=1", "EXTEND_TIMEOUT_USEC=1500000", "WATCHDOG_USEC=20000000"])
        try notify.send([.watchdogTrigger, .custom("X_LOOPS", "")])
        #expect(manager.next() == ["WATCHDOG=trigger", "X_LOOPS="])
        #expect(manager.next() == nil)
    }

    @Test func `A reloading message has the monotonic time at which it was sent`() throws {
        let directory = TemporaryDirectory()
        let manager = ServiceManagerStandIn(directory.path("notify"))
        func now() -> Int64 {
            var time = timespec()
            clock_gettime(CLOCK_MONOTONIC, &time)
            return Int64(time.tv_sec) * 1_000_000 + Int64(time.tv_nsec) / 1000
        }
        let before = now()
        try NotifySocket(manager.path).send(.reloading)
        let after = now()
        let lines = try #require(manager.next())
        #expect(lines.count == 2 && lines[0] == "RELOADING=1")
        let time = try #require(lines[1].hasPrefix("MONOTONIC_USEC=") ? Int64(lines[1].dropFirst(15)) : nil)
        #expect((before...after).contains(time))
    }

    @Test func `The service manager gets copies of descriptors`() throws {
        let directory = TemporaryDirectory()
        let manager = ServiceManagerStandIn(directory.path("notify"))
        let pipe = DescriptorPair.pipe()
        pipe.send("kept")
        let notify = try NotifySocket(manager.path)
        try notify.send(.fdStore, .fdName("state"), descriptors: [pipe.first, pipe.second])
        let came = manager.nextDescriptors()
        #expect(came.count == 2 && came.text == "kept")
        #expect(throws: ServiceManagerError.system(.init(call: "sendmsg", code: EBADF))) {
            try notify.send(.fdStore, descriptors: [-1])
        }
        #expect(throws: ServiceManagerError.system(.init(call: "sendmsg", code: E2BIG))) {
            try notify.send(.fdStore, descriptors: Array(repeating: pipe.first, count: 254))
        }
        #expect(manager.next() == nil)
    }

    // MARK: The worst

    @Test func `A status text that would be read as another state is refused, and nothing is sent`() throws {
        let directory = TemporaryDirectory()
        let manager = ServiceManagerStandIn(directory.path("notify"))
        let notify = try NotifySocket(manager.path)
        let bad: [(NotifySocket.State, String, String)] = [
            (.status("a\nMAINPID=1"), "STATUS", "a\nMAINPID=1"), (.status("a\0b"), "STATUS", "a\0b"),
            (.custom("", "x"), "", "x"), (.custom("A=B", "x"), "A=B", "x"), (.custom("A B", "x"), "A B", "x"),
            (.fdName("a:b"), "FDNAME", "a:b"), (.fdName(""), "FDNAME", ""),
            (.extendTimeout(.seconds(-1)), "EXTEND_TIMEOUT_USEC", "-1000000"),
        ]
        for (state, name, value) in bad {
            #expect(throws: ServiceManagerError.state(name: name, value: value)) { try notify.send(.ready, state) }
        }
        #expect(manager.next() == nil)
    }

    @Test(arguments: ["", "@", "/", "relative", "vsock:2:1234", "/" + String(repeating: "x", count: 107), "/a\0b"])
    func `Text that is not an address is refused`(_ path: String) {
        #expect(throws: ServiceManagerError.environment(variable: "NOTIFY_SOCKET", value: path)) {
            _ = try NotifySocket(path)
        }
    }

    @Test func `Sending to a removed or full socket throws, and a later message is sent`() throws {
        let directory = TemporaryDirectory()
        let notify = try NotifySocket(directory.path("notify"))
        #expect(throws: ServiceManagerError.system(.init(call: "sendmsg", code: ENOENT))) { try notify.send(.ready) }
        do {
            let manager = ServiceManagerStandIn(directory.path("notify"))
            try notify.send(.ready)
            #expect(manager.all() == ["READY=1"])
            // Nobody reads: the call does not wait.
            #expect(throws: ServiceManagerError.system(.init(call: "sendmsg", code: EAGAIN))) {
                for _ in 0..<100_000 { try notify.send(.watchdog) }
            }
            #expect(!manager.all().isEmpty)
            try notify.send(.stopping)
            #expect(manager.all() == ["STOPPING=1"])
        }
        #expect(throws: ServiceManagerError.system(.init(call: "sendmsg", code: ENOENT))) { try notify.send(.ready) }
    }

    // MARK: The watchdog

    @Test func `A running loop sends keep-alives, and a hanging loop sends none`() throws {
        let directory = TemporaryDirectory()
        let manager = ServiceManagerStandIn(directory.path("notify"))
        let notify = try NotifySocket(manager.path)
        ManualRunLoop.with { manual in
            let timer = notify.watchdogTimer(interval: .seconds(10)) { Issue.record("\($0)") }
            manual.loop.add(timer, in: .default)
            manual.advance(by: .seconds(1))
            #expect(manager.all() == ["WATCHDOG=1"])
            // Read in between: the queue of such a socket may be as short as ten.
            for _ in 0..<24 {
                manual.advance(by: .seconds(5))
                #expect(manager.all() == ["WATCHDOG=1"])
            }
            // A callout of a minute, in which the loop runs in another mode.
            let other: RunLoop.Mode = "other"
            manual.loop.add(RunLoop.Timer.sendable(.every(.seconds(100))) { _ in }, in: other)
            manual.loop.performLocally(after: .zero) {
                manual.advance(by: .seconds(60), in: other)
                #expect(manager.all() == [])
            }
            // The first of these ends with the callout: its time is over.
            manual.advance(by: .milliseconds(1))
            manual.advance(by: .milliseconds(1))
            #expect(manager.all() == ["WATCHDOG=1"], "once, not twelve times")
            timer.invalidate()
            manual.advance(by: .seconds(60))
            #expect(manager.all() == [])
        }
    }

    @Test func `A loop on the real clock sends no keep-alive while it hangs, and one when it continues`() throws {
        let directory = TemporaryDirectory()
        let manager = ServiceManagerStandIn(directory.path("notify"))
        let path = manager.path
        let hangs = Permit()
        let goesOn = Permit()
        let thread = TestThread {
            guard let notify = try? NotifySocket(path) else { return }
            let loop = RunLoop.current
            loop.add(notify.watchdogTimer(interval: .milliseconds(20)) { Issue.record("\($0)") }, in: .default)
            _ = loop.run(in: .default, for: .milliseconds(50))
            loop.performLocally(after: .zero) {
                hangs.signal()
                goesOn.wait()
                loop.stop()
            }
            _ = loop.runPlenty()
        }
        hangs.wait()
        #expect(!manager.all().isEmpty)
        // Five intervals.
        usleep(100_000)
        #expect(manager.all() == [])
        goesOn.signal()
        thread.join()
    }

    @Test func `A keep-alive that cannot be sent is reported, and its timer continues`() throws {
        let directory = TemporaryDirectory()
        let notify = try NotifySocket(directory.path("notify"))
        let errors = Locked<[ServiceManagerError]>([])
        ManualRunLoop.with { manual in
            let timer = notify.watchdogTimer(interval: .seconds(2)) { error in errors.withLock { $0.append(error) } }
            manual.loop.add(timer, in: .default)
            manual.advance(by: .milliseconds(1_500))
            #expect(errors.copy == Array(repeating: .system(.init(call: "sendmsg", code: ENOENT)), count: 2))
            let manager = ServiceManagerStandIn(directory.path("notify"))
            manual.advance(by: .seconds(1))
            #expect(manager.all() == ["WATCHDOG=1"])
            timer.invalidate()
        }
    }
}
