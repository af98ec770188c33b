// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import CRunLoopsKernel
import Glibc
import RunLoops

/// Programs that a signal ends from within a callout of the main loop.
enum Ending {
    /// Plays the scene: a signal's number, which the program sends to itself, or a word for what it does wrong.
    static func play(_ how: String) {
        let timer = RunLoop.Timer(.after(.zero), label: "the last") { _ in end(how) }
        RunLoop.main.add(timer, in: .default)
        let ticking = RunLoop.Timer(.every(.milliseconds(10)), label: "goes on") { _ in }
        RunLoop.main.add(ticking, in: .default)
        RunLoop.main.run(in: .default, until: nil)
    }

    private static func end(_ how: String) {
        switch how {
        case "abort": abort()
        case "fault": UnsafeMutablePointer<Int>(bitPattern: 8)?.pointee = 1
        case "overflow": print(deepen(1))
        case "corrupt":
            // The C library finds this out while it holds the lock of the heap.
            let twice = malloc(4000)
            _ = malloc(4000)
            free(twice)
            free(twice)
        case "allocating": endWhileAllocating()
        case "trap":
            // A thread that has just been made blocks every signal until its first step, and says so to the crash's reporter.
            while !otherThreadsSleep() { usleep(1000) }
            fatalError("asked for")
        case "handler":
            signal(SIGTERM) { _ in _exit(7) }
            kill(getpid(), SIGTERM)
        case "child":
            // The child ends by the signal at once, and leaves the trace to its parent.
            let child = fork()
            if child == 0 {
                raise(SIGTERM)
                raise(SIGSEGV)
                _exit(1)
            }
            var status: CInt = 0
            waitpid(child, &status, 0)
            exit(status == SIGTERM ? 7 : 1)
        default: kill(getpid(), CInt(how) ?? SIGKILL)
        }
    }

    /// Whether all threads except the main thread, which asks, are asleep.
    private static func otherThreadsSleep() -> Bool {
        guard let tasks = opendir("/proc/self/task") else { return false }
        defer { closedir(tasks) }
        while let task = readdir(tasks) {
            let name = withUnsafePointer(to: &task.pointee.d_name) {
                $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
            }
            guard let thread = Int32(name), thread != getpid() else { continue }
            let file = open("/proc/self/task/\(name)/stat", O_RDONLY | O_CLOEXEC)
            defer { close(file) }
            var text = [UInt8](repeating: 0, count: 256)
            let count = read(file, &text, text.count)
            // "number (name) state": the name may have any characters.
            guard count > 0, let end = text.lastIndex(of: UInt8(ascii: ")")) else { continue }
            if text[end + 2] != UInt8(ascii: "S") { return false }
        }
        return true
    }

    /// The signal interrupts a thread that is in the allocator most of the time.
    private static func endWhileAllocating() {
        for _ in 0..<4 {
            _ = rl_thread_start_detached(
                { _ in while true { free(malloc(Int.random(in: 1..<100_000))) } }, nil)
        }
        usleep(useconds_t.random(in: 0..<10_000))
        var one = sigset_t()
        sigemptyset(&one)
        sigaddset(&one, SIGTERM)
        pthread_sigmask(SIG_BLOCK, &one, nil)
        kill(getpid(), SIGTERM)
    }

    private static func deepen(_ depth: Int) -> Int {
        withUnsafeTemporaryAllocation(of: Int.self, capacity: 4096) { space in
            space.initialize(repeating: depth)
            return deepen(depth + 1) + space[depth & 4095]
        }
    }
}
