// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import Glibc
import RunLoops
import RunLoopsEvents
import RunLoopsTestSupport
import Testing

/// A service from its start to its end, each in a process of its own: signals and the environment are the process's.
@Suite(.ownThread, .leavesNothing) struct ManagedServiceProcessTests {
    @Test func `A service reports start, reloads and end, and restores the dispositions of its signals`() async {
        await #expect(processExitsWith: .success) {
            try withLoop { loop in
                let manager = ServiceManagerStandIn("@run-loops-\(getpid())")
                setVariable("NOTIFY_SOCKET", manager.path)
                setVariable("WATCHDOG_USEC", nil)
                signal(SIGHUP, SIG_IGN)
                let service = try ManagedService { error in _ = Issue.record(error) }
                #expect(getenv("NOTIFY_SOCKET") == nil)
                let called = Box<[String]>([])
                loop.performLocally { kill(getpid(), SIGHUP) }
                try service.run(
                    reload: {
                        called.value.append("reload")
                        if called.value.count == 1 { service.reload() } else { kill(getpid(), SIGTERM) }
                    },
                    end: { done in
                        called.value.append("end")
                        // Nothing is begun any more.
                        service.reload()
                        service.end()
                        loop.performLocally(after: .milliseconds(1)) { done() }
                    })
                #expect(called.value == ["reload", "reload", "end"])
                let heard = manager.all().map { $0.prefix { $0 != " " } }
                #expect(heard == ["READY=1", "RELOADING=1", "RELOADING=1", "READY=1", "READY=1", "STOPPING=1"])
                #expect(signal(SIGHUP, SIG_DFL).map { unsafeBitCast($0, to: Int.self) } == 1)
                #expect(loop.isEmpty(in: .default))
            }
        }
    }

    @Test func `Without a service manager, a signal calls the end closure, and stopping the loop ends run`() async {
        await #expect(processExitsWith: .success) {
            try withLoop { loop in
                setVariable("NOTIFY_SOCKET", nil)
                let service = try ManagedService { error in _ = Issue.record(error) }
                #expect(service.manager == nil)
                // Twice: without `reload`, and with what ends when the run is over.
                let late = Box<() -> Void>({})
                loop.performLocally { kill(getpid(), SIGINT) }
                try service.run(end: { done in
                    late.value = done
                    loop.stop()
                })
                late.value()
                loop.performLocally { service.end() }
                try service.run()
            }
        }
    }

    @Test func `A second SIGTERM ends the process if its service has not ended by then`() async {
        await #expect(processExitsWith: .signal(SIGTERM)) {
            try withLoop { loop in
                let service = try ManagedService()
                loop.performLocally { kill(getpid(), SIGTERM) }
                try service.run(end: { _ in kill(getpid(), SIGTERM) })
            }
        }
    }

    @Test func `A running service sends keep-alives to the watchdog and reports STOPPING when its loop is stopped`()
        async
    {
        await #expect(processExitsWith: .success) {
            try withLoop { loop in
                let manager = ServiceManagerStandIn("@run-loops-\(getpid())")
                setVariable("NOTIFY_SOCKET", manager.path)
                setVariable("WATCHDOG_USEC", "20000")
                setVariable("WATCHDOG_PID", nil)
                let service = try ManagedService { error in _ = Issue.record(error) }
                // Read as it comes: the socket keeps ten.
                let heard = Box<[String]>([])
                let reading = RunLoop.Timer(.every(.milliseconds(1))) { _ in
                    heard.value += manager.all()
                    if heard.value.count(where: { $0 == "WATCHDOG=1" }) >= 2 { loop.stop() }
                }
                loop.add(reading, in: .default)
                try service.run()
                reading.invalidate()
                heard.value += manager.all()
                // One more may be sent before the loop stops.
                let pings = heard.value.dropFirst().dropLast()
                #expect(heard.value.first == "READY=1" && heard.value.last == "STOPPING=1")
                #expect(pings.count >= 2 && pings.allSatisfy { $0 == "WATCHDOG=1" })
                #expect(loop.isEmpty(in: .default))
            }
        }
    }

    @Test func `A message that the manager does not receive is reported, and a malformed NOTIFY_SOCKET throws`() async {
        await #expect(processExitsWith: .success) {
            try withLoop { loop in
                setVariable("NOTIFY_SOCKET", "@run-loops-nobody-\(getpid())")
                let missed = Locked(0)
                let service = try ManagedService { _ in missed.increment() }
                loop.performLocally { service.end() }
                try service.run()
                #expect(missed.count == 2)
                setVariable("NOTIFY_SOCKET", "nonsense")
                #expect(throws: ServiceManagerError.environment(variable: "NOTIFY_SOCKET", value: "nonsense")) {
                    _ = try ManagedService()
                }
            }
        }
    }

    @Test func `A service that is ended in a run nested in a callout ends that run and its own`() async {
        await #expect(processExitsWith: .success) {
            try withLoop { loop in
                setVariable("NOTIFY_SOCKET", nil)
                let service = try ManagedService()
                let results = Box<[RunLoop.RunResult]>([])
                loop.performLocally {
                    loop.performLocally {
                        kill(getpid(), SIGTERM)
                        results.value.append(loop.run(in: .default, until: nil))
                    }
                    results.value.append(loop.run(in: .default, until: nil))
                }
                try service.run()
                #expect(results.value == [.stopped, .stopped])
            }
        }
    }

    @Test
    func `An end that takes longer than its limit ends the service anyway, which tells the manager and the caller`()
        async
    {
        await #expect(processExitsWith: .success) {
            try withLoop { loop in
                let manager = ServiceManagerStandIn("@run-loops-\(getpid())")
                setVariable("NOTIFY_SOCKET", manager.path)
                setVariable("WATCHDOG_USEC", nil)
                let service = try ManagedService { error in _ = Issue.record(error) }
                let late = Box<() -> Void>({})
                let results = Box<[RunLoop.RunResult]>([])
                // The limit also ends a run that the program has begun.
                loop.performLocally {
                    loop.performLocally { kill(getpid(), SIGTERM) }
                    results.value.append(loop.run(in: .default, until: nil))
                }
                let start = RunLoop.Instant.now
                #expect(try service.run(end: { done in late.value = done }, within: .milliseconds(30)) == .timedOut)
                #expect(start.duration(to: .now) >= .milliseconds(30))
                #expect(results.value == [.stopped])
                let said = "STATUS=The end was not done within \(Duration.milliseconds(30))."
                #expect(manager.all() == ["READY=1", "STOPPING=1", said])
                #expect(loop.isEmpty(in: .default))
                // The end that comes late ends nothing: not the next run either.
                late.value()
                loop.performLocally {
                    late.value()
                    loop.performLocally(after: .milliseconds(1)) { service.end() }
                }
                #expect(try service.run(within: .zero) == .finished)
            }
        }
    }

    @Test func `An end within its limit is finished, and a loop that other code stops is stopped`() async {
        await #expect(processExitsWith: .success) {
            try withLoop { loop in
                setVariable("NOTIFY_SOCKET", nil)
                let service = try ManagedService()
                loop.performLocally { service.end() }
                let end: (@escaping () -> Void) -> Void = { done in
                    loop.performLocally(after: .milliseconds(1)) { done() }
                }
                #expect(try service.run(end: end, within: plenty) == .finished)
                // The timer of the limit has gone with the run.
                #expect(loop.isEmpty(in: .default))
                loop.performLocally { loop.stop() }
                #expect(try service.run(within: plenty) == .stopped)
                loop.performLocally { service.end() }
                #expect(try service.run(end: { _ in }, within: .seconds(-1)) == .timedOut)
            }
        }
    }

    @Test func `A service that is ended in a failure's callback before its run begins does not run`() async {
        await #expect(processExitsWith: .success) {
            try withLoop { loop in
                setVariable("NOTIFY_SOCKET", "@run-loops-nobody-\(getpid())")
                let end = Locked<(@Sendable () -> Void)?>(nil)
                let service = try ManagedService { _ in end.copy?() }
                nonisolated(unsafe) let unsafeService = service
                end.withLock { $0 = { unsafeService.end() } }
                try service.run()
            }
        }
    }
}
