// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import CHoldingChild
import CRunLoopsKernel
import Glibc
import RunLoops
import RunLoopsEvents
import RunLoopsTestSupport
import Testing

/// Processes whose seccomp filter answers unknown system calls by SIGSYS.
@Suite(
    .limited,
    .disabled(if: Sanitizer.isAny, "a sanitizer makes newer system calls of its own"), .needsSystemCallFilter)
struct StrictFilterProcessTests {
    @Test func `Loops, timers, files and children work under a filter that ends the process at newer system calls`()
        async
    {
        await #expect(processExitsWith: .success) {
            #expect(holding_trap_newer_calls(true))
            try TestThread.run { () throws in
                let loop = RunLoop.current
                let fires = Box(0)
                loop.add(
                    RunLoop.Timer(.every(.microseconds(300))) { _ in
                        fires.value += 1
                        if fires.value == 20 { loop.stop() }
                    }, in: .default)
                #expect(loop.runPlenty() == .stopped)
                let directory = TemporaryDirectory()
                let watch = try FileWatch([directory.path]) { _, _ in loop.stop() }
                try loop.add(watch, in: .default)
                directory.write("file", "text")
                #expect(loop.runPlenty() == .stopped)
                // A descriptor that is not closed on exec: only the spawn keeps it from the child.
                let leaked = dup(STDERR_FILENO)
                _ = fcntl(leaked, F_SETFD, 0)
                let pair = DescriptorPair.pipe()
                let child = try Child.spawn(
                    .name("sh"), arguments: ["-c", "echo text >&9; [ ! -e /proc/$$/fd/\(leaked) ]"],
                    descriptors: [9: pair.second])
                let exit = ChildSource(child) { _, _ in loop.stop() }
                try loop.add(exit, in: .default)
                #expect(loop.runPlenty() == .stopped)
                #expect(child.exit?.status == .exited(0))
                #expect(readText(pair.first) == "text\n")
            }
        }
    }

    @Test func `rl_permits is false for system calls that the filter refuses and true for older ones`() async {
        await #expect(processExitsWith: .success) {
            #expect(holding_trap_newer_calls(true))
            #expect(!rl_permits(RL_CALL_EPOLL_PWAIT2))
            #expect(!rl_permits(RL_CALL_CLOSE_RANGE))
            #expect(rl_permits(RL_CALL_PIDFD_OPEN))
        }
    }

    @Test func `rl_permits is true for all system calls without a filter`() {
        for call in [RL_CALL_EPOLL_PWAIT2, RL_CALL_CLOSE_RANGE, RL_CALL_PIDFD_OPEN, RL_CALL_PROCESS_VM_READV] {
            #expect(rl_permits(call))
        }
    }

    // Before Linux 5.16 the death of a child by SIGSYS ended all processes that shared its memory.
    @Test func `The child that tries a system call for rl_permits does not share the memory of this process`() async {
        await #expect(processExitsWith: .success) {
            #expect(holding_refuse_shared_children())
            #expect(rl_permits(RL_CALL_PIDFD_OPEN))
            #expect(holding_trap_newer_calls(true))
            #expect(!rl_permits(RL_CALL_CLOSE_RANGE))
        }
    }

    @Test func `A filter that ends the child of a spawn by SIGSYS is the error EPERM of the step`() async {
        await #expect(processExitsWith: .success) {
            #expect(holding_trap_new_sessions())
            let error = #expect(throws: Child.SpawnError.self) {
                try Child.spawn(.path("/bin/true"), group: .newSession)
            }
            #expect(error?.step == .group)
            #expect(error?.code == EPERM)
        }
    }
}
