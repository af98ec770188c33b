// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import CRunLoopsKernel
import Glibc
import RunLoops
import RunLoopsTestSupport
import RunLoopsTesting
import Testing

@testable import RunLoopsEvents

/// Children with a group of their own, which are ended with all that they have started.
@Suite(.ownThread, .leavesNothing) struct ChildGroupProcessTests {
    /// Obeys and leaves a process that does not.
    private static let leaving = "sh -c 'trap \"\" TERM; echo $$; exec sleep 600' & wait"

    @Test(arguments: [Child.Group.new, .newSession])
    func `terminate on a child with its own group also ends the processes that the child has started`(
        _ group: Child.Group
    ) throws {
        try withLoop { loop in
            let family = try Family("echo $$; sleep 600; sleep 600", group)
            let completion = complete(family.child, on: loop)
            family.child.terminate(killAfter: .seconds(3600), on: loop)
            #expect(loop.runPlenty() != .timedOut)
            #expect(completion.value == .signalled(SIGTERM, dumpedCore: false))
            family.waitForAll()
            // Were the timer still there, the run would not finish for an hour.
            if family.child.ownGroup == .byDescriptor { #expect(loop.runPlenty() == .finished) }
        }
    }

    @Test func `terminate without killAfter ends the whole group`() throws {
        let family = try Family("echo $$; sleep 600; sleep 600", .new)
        family.child.terminate()
        family.waitForAll()
        #expect(waitForEnd(family.child) == .signalled(SIGTERM, dumpedCore: false))
    }

    @Test(arguments: [false, true])
    func `A group member that ignores SIGTERM is killed after killAfter, even if the leader has ended`(
        _ isOldKernel: Bool
    ) throws {
        try withLoop { loop in
            let family = try Family(Self.leaving, .new, isOldKernel: isOldKernel)
            let ended = Box<ChildSource.Status?>(nil)
            add(ChildSource(family.child) { _, exit in ended.value = exit.status }, to: loop)
            let completion = complete(family.child, on: loop)
            let began = ContinuousClock.now
            family.child.terminate(killAfter: .milliseconds(50), on: loop)
            while ended.value == nil { _ = loop.run(in: .default, for: plenty, returnsAfterSource: true) }
            #expect(ended.value == .signalled(SIGTERM, dumpedCore: false))
            if completion.value == nil { #expect(loop.runPlenty() != .timedOut) }
            #expect(ContinuousClock.now - began >= .milliseconds(50))
            #expect(completion.value == ended.value)
            family.waitForAll()
            #expect(loop.runPlenty() == .finished)
            #expect(waitpid(family.child.process, nil, WNOHANG) == -1, "the leader is reaped")
        }
    }

    @Test(arguments: [false, true])
    func `In virtual time a group is killed exactly when killAfter has passed`(_ isOldKernel: Bool) throws {
        try ManualRunLoop.with { manual in
            let family = try Family(Self.leaving, .new, isOldKernel: isOldKernel)
            family.child.terminate(killAfter: .seconds(3600), on: manual.loop)
            #expect(waitForEnd(family.child) == .signalled(SIGTERM, dumpedCore: false))
            manual.advance(by: .seconds(3599))
            #expect(family.child.signalGroup(0) == 0)
            manual.advance(by: .seconds(1))
            family.waitForAll()
        }
    }

    @Test func `From Linux 6.9 on terminate ends the rest of a group whose leader was reaped`() throws {
        try withLoop { loop in
            let family = try Family("sh -c 'trap \"\" TERM; echo $$; exec sleep 600' & exit 0", .new)
            #expect(waitForEnd(family.child).isSuccess)
            #expect(waitpid(family.child.process, nil, WNOHANG) == -1)
            guard family.child.ownGroup == .byDescriptor else {
                // Before Linux 6.9 its number may be another's.
                #expect(family.child.signalGroup(SIGKILL) == -ESRCH)
                #expect(kill(family.member, SIGKILL) == 0)
                return family.waitForAll()
            }
            family.child.terminate(killAfter: .zero, on: loop)
            #expect(loop.runPlenty() == .finished)
            family.waitForAll()
        }
    }

    @Test func `A group known by its number is signalled only until its leader is reaped`() throws {
        let family = try Family(Self.leaving, .new, isOldKernel: true)
        var keeper: Child.NumberKeeper? = Child.NumberKeeper(family.child)
        #expect(family.child.signalGroup(SIGTERM) == 0)
        #expect(waitForEnd(family.child) == .signalled(SIGTERM, dumpedCore: false))
        #expect(family.child.exit?.usage != nil)
        var info = siginfo_t()
        #expect(waitid(P_PID, id_t(family.child.process), &info, WEXITED | WNOWAIT) == 0, "not reaped yet")
        #expect(family.child.signalGroup(0) == 0)
        withExtendedLifetime(keeper) {}
        keeper = nil
        #expect(waitid(P_PID, id_t(family.child.process), &info, WEXITED | WNOWAIT) == -1)
        // The group is still there, and its number could be another's by now.
        #expect(family.child.signalGroup(SIGKILL) == -ESRCH)
        #expect(family.child.exit?.status == .signalled(SIGTERM, dumpedCore: false))
        #expect(kill(family.member, SIGKILL) == 0)
        family.waitForAll()
    }

    @Test func `terminate on a child that has joined another process's group signals the child alone`() throws {
        try withLoop { loop in
            let leader = try Child.spawn(.name("cat"), input: .pipe, output: .null, group: .new)
            let family = try Family(Self.leaving, .joined(leader.process))
            // The group of the leader, of the member, and this process's own are not asked to end.
            add(ChildSource(family.child) { _, _ in loop.stop() }, to: loop)
            family.child.terminate(killAfter: .zero, on: loop)
            #expect(loop.runPlenty() == .stopped)
            #expect(rl_wait_readable(family.alive, 0) == 0, "the member is still there")
            #expect(leader.exit == nil)
            // The group of the first, which has no other.
            #expect(throws: Never.self) { try leader.sendToGroup(SIGKILL) }
            family.waitForAll()
            #expect(waitForEnd(leader) == .signalled(SIGKILL, dumpedCore: false))
            #expect(loop.runPlenty() == .finished)
        }
    }

    @Test func `Signalling a group that has ended throws ESRCH, and terminate leaves no timer`() throws {
        try withLoop { loop in
            let child = try Child.spawn(.name("true"), group: .new)
            #expect(waitForEnd(child).isSuccess)
            #expect(throws: RunLoop.SystemCallError(call: "pidfd_send_signal", code: ESRCH)) {
                try child.sendToGroup(SIGTERM)
            }
            child.terminate(killAfter: .seconds(3600), on: loop, in: .default)
            #expect(loop.isEmpty(in: .default))
        }
    }

    @Test func `A child that writes more than the limit is killed with its group`() throws {
        try withLoop { loop in
            let family = try Family(
                "(trap '' PIPE TERM; exec sleep 600) & trap '' PIPE; while :; do echo yes; done", .new)
            let completion = complete(family.child, on: loop, limit: 10)
            #expect(loop.runPlenty() != .timedOut)
            #expect(completion.value == .signalled(SIGKILL, dumpedCore: false))
            family.waitForAll()
        }
    }

    @Test func `sendToGroup traps for a child without a group of its own`() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            try Child.spawn(.name("sleep"), arguments: ["0"]).sendToGroup(SIGTERM)
        }
        expectText(result, "is not the child's own")
        expectText(result, "Spawn the child with `group: .new`")
    }
}

/// A child that says when it is ready, and everything that it starts.
private final class Family {
    let child: Child
    /// The process that has written its number: the child, or a member of its group.
    let member: CInt
    private let made: Child
    /// The end of a pipe whose other end each of the processes has: at its end none of them is left.
    let alive: CInt

    init(_ command: String, _ group: Child.Group, isOldKernel: Bool = false) throws {
        var ends: [CInt] = [-1, -1]
        #expect(rl_blocking_pipe(&ends) == 0)
        defer { close(ends[1]) }
        alive = ends[0]
        made = try Child.spawn(
            .name("sh"), arguments: ["-c", command], input: .null, output: .pipe, descriptors: [3: ends[1]],
            group: group)
        child =
            isOldKernel
            ? Child(made.process, made.file, .byNumber, nil, made.standardOutput, nil) : made
        let output = try #require(child.standardOutput?.descriptor)
        #expect(rl_wait_readable(output, -1) > 0)
        var text = [UInt8](repeating: 0, count: 16)
        let count = read(output, &text, text.count)
        member = CInt(String(decoding: text.prefix(count).prefix { $0 != 10 }, as: UTF8.self)) ?? 0
    }

    deinit { close(alive) }

    /// Waits until all of the processes have ended.
    func waitForAll() {
        var byte: UInt8 = 0
        while read(alive, &byte, 1) != 0 {}
    }
}

/// How the child has ended, when all of its output is read; stops the loop then.
private func complete(_ child: Child, on loop: RunLoop, limit: Int = 1 << 20) -> Box<ChildSource.Status?> {
    let ended = Box<ChildSource.Status?>(nil)
    add(
        ChildCompletion(child, limit: limit, outputWait: nil) { _, result in
            switch result {
            case .success(let report): ended.value = report.exit.status
            case .failure(let failure): ended.value = failure.report.exit.status
            }
            loop.stop()
        }, to: loop)
    return ended
}
