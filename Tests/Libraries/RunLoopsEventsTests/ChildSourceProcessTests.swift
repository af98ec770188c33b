// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import Glibc
import RunLoops
import RunLoopsEvents
import RunLoopsTestSupport
import Testing

@Suite(.ownThread, .leavesNothing) struct ChildSourceProcessTests {
    // MARK: Its life

    @Test func `A ChildSource reports a child's exit code and usage and leaves no zombie`() throws {
        try withLoop { loop in
            let child = spawn("exit 7")
            let told = Box<ChildSource.Exit?>(nil)
            let source = try ChildSource(child) { source, exit in
                told.value = exit
                #expect(!source.isValid)
            }
            add(source, to: loop)
            #expect(loop.runPlenty() == .finished)
            #expect(told.value?.process == child)
            #expect(told.value?.status == .exited(7))
            #expect((told.value?.usage?.maxResidentBytes ?? 0) > 0)
            #expect(waitpid(child, nil, WNOHANG) == -1)
            #expect(errno == ECHILD)
        }
    }

    @Test func `A child ended by a signal is reported with that signal`() throws {
        try withLoop { loop in
            let told = Box<ChildSource.Status?>(nil)
            let source = try ChildSource(spawn("exec sleep 60")) { _, exit in told.value = exit.status }
            add(source, to: loop)
            try source.send(SIGKILL)
            #expect(loop.runPlenty() == .finished)
            #expect(told.value == .signalled(SIGKILL, dumpedCore: false))
            #expect(throws: RunLoop.SystemCallError(call: "pidfd_send_signal", code: ESRCH)) {
                try source.send(SIGTERM)
            }
        }
    }

    @Test func `A child that ended before its source was made is reported`() throws {
        try withLoop { loop in
            let child = spawn("exit 3")
            // Waits for its end, and leaves it to be waited for.
            var info = siginfo_t()
            #expect(waitid(P_PID, id_t(child), &info, WEXITED | WNOWAIT) == 0)
            let told = Box<ChildSource.Status?>(nil)
            add(try ChildSource(child) { _, exit in told.value = exit.status }, to: loop)
            #expect(loop.runPlenty() == .finished)
            #expect(told.value == .exited(3))
        }
    }

    @Test func `A source reaps only its own child`() throws {
        try withLoop { loop in
            let mine = spawn("exit 1")
            let others = spawn("exit 2")
            add(try ChildSource(mine) { _, _ in }, to: loop)
            #expect(loop.runPlenty() == .finished)
            var status: CInt = 0
            #expect(waitpid(others, &status, 0) == others)
            #expect(status >> 8 & 0xFF == 2)
        }
    }

    @Test func `A source with reaps set to false reports its child and does not reap it`() throws {
        try withLoop { loop in
            let child = spawn("exit 4")
            let told = Box<ChildSource.Status?>(nil)
            add(try ChildSource(child, reaps: false) { _, exit in told.value = exit.status }, to: loop)
            #expect(loop.runPlenty() == .finished)
            #expect(told.value == .exited(4))
            #expect(waitpid(child, nil, 0) == child)
        }
    }

    // MARK: The worst

    @Test func `A child reaped by other code is reported with the status that the kernel keeps, or as unknown`() throws
    {
        try withLoop { loop in
            let child = spawn("exit 5")
            let told = Box<ChildSource.Exit?>(nil)
            add(try ChildSource(child) { _, exit in told.value = exit }, to: loop)
            #expect(waitpid(child, nil, 0) == child)
            #expect(loop.runPlenty() == .finished)
            let status: ChildSource.Status = kernelKeepsExits() ? .exited(5) : .unknown
            #expect(told.value == ChildSource.Exit(process: child, status: status, usage: nil))
        }
    }

    @Test func `Making a source for a process that does not exist throws`() {
        let child = spawn("exit 0")
        waitpid(child, nil, 0)
        #expect(throws: RunLoop.SystemCallError(call: "pidfd_open", code: ESRCH)) {
            _ = try ChildSource.sendable(child) { _, _ in }
        }
        #expect(throws: RunLoop.SystemCallError(call: "pidfd_open", code: EINVAL)) {
            _ = try ChildSource.sendable(-1) { _, _ in }
        }
    }

    @Test func `An invalidated source does not reap its child`() throws {
        let child = spawn("exit 6")
        let source = try ChildSource.sendable(child) { _, _ in Issue.record("called") }
        source.invalidate()
        #expect(waitpid(child, nil, 0) == child)
    }

    @Test(.needsDescriptors(isFull ? 1000 : 100)) func `Each of a thousand children that end at once is reported`()
        throws
    {
        let count = isFull ? 1000 : 100
        try withLoop { loop in
            let codes = Box<[CInt: CInt]>([:])
            // They wait for the end of their input, so that all are there at once.
            let gate = DescriptorPair.pipe()
            var children: [CInt] = []
            for number in 0..<count {
                let child = spawn("read line; exit \(number % 200)", input: gate.first)
                children.append(child)
                add(
                    try ChildSource(child) { source, exit in
                        if case .exited(let code) = exit.status { codes.value[source.process] = code }
                    }, to: loop)
            }
            gate.closeSecond()
            #expect(loop.runPlenty() == .finished)
            for (number, child) in children.enumerated() { #expect(codes.value[child] == CInt(number % 200)) }
        }
    }
}

/// Starts a shell with a command, and with another standard input, if one is given.
private func spawn(_ command: String, input: CInt? = nil) -> CInt {
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    if let input { posix_spawn_file_actions_adddup2(&actions, input, STDIN_FILENO) }
    var child: pid_t = 0
    var arguments: [UnsafeMutablePointer<CChar>?] = [strdup("sh"), strdup("-c"), strdup(command), nil]
    defer { for argument in arguments { free(argument) } }
    let result = posix_spawn(&child, "/bin/sh", &actions, nil, &arguments, nil)
    precondition(result == 0, "posix_spawn: \(result)")
    return child
}
