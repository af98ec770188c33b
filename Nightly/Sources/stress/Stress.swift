// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

// Many threads on few loops, under what a machine does to them. Each kind of work has a law of conservation, which is
// looked at when all has come to rest.

import ArgumentParser
import Glibc
import NightlyKit
import RunLoops

@main struct Stress: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Threads post, signal, add, invalidate and send to loops; nothing may be lost or done twice.")

    @Option(help: "How long.")
    var seconds = 60
    @Option(help: "How many threads work on the loops.")
    var threads = 64
    @Option(help: "How many loops, each on a thread of its own.")
    var loops = 8
    @Option(help: "For the random numbers.")
    var seed: UInt64 = 20_261_122
    @Option(help: "Signals a second that a child process sends to this one; the handler does nothing.")
    var signals = 0
    @Option(help: "How often a second a child process stops this one and lets it go on.")
    var stops = 0
    @Flag(help: "With the lowest priority, beside two processes that only compute.")
    var nice = false
    @Option(help: "How many descriptors the process may have.")
    var descriptors: Int?

    @Option(help: "How many MiB of address space the process may have beyond what it needs to begin.")
    var memory: Int?
    @Option(help: "How many threads the process may have beyond those of the loops and those that work on them.")
    var moreThreads: Int?
    @Option(help: "How many seconds to wait for what must come.")
    var patience = 60

    func run() throws {
        if let descriptors {
            var limit = rlimit()
            getrlimit(__rlimit_resource_t(7), &limit)  // RLIMIT_NOFILE, which Swift does not see.
            limit.rlim_cur = UInt(descriptors)
            setrlimit(__rlimit_resource_t(7), &limit)
        }
        if moreThreads != nil {
            guard Limit.threads.isPossible else {
                throw ValidationError("A limit of threads needs the privileged user.")
            }
            Limit.threads.prepare()
        }
        let disturbers = Disturbers()
        if signals > 0 { disturbers.signal(getpid(), aSecond: signals) }
        if stops > 0 { disturbers.stop(getpid(), aSecond: stops) }
        if nice {
            disturbers.compute()
            disturbers.compute()
            setpriority(__priority_which_t(0), 0, 19)  // PRIO_PROCESS
        }
        defer { disturbers.end() }
        // Once for what the process keeps.
        try cultivate(seconds: 1)
        let before = Usage.trimmed
        try cultivate(seconds: seconds)
        let after = Usage.trimmed
        print(
            "memory \(after.memory - before.memory) KiB, descriptors \(after.descriptors - before.descriptors), threads"
                + " \(after.threads - before.threads) more than before")
        check(after.memory - before.memory <= 8192, "memory is left")
        check(after.threads == before.threads, "threads are left")
        check(after.descriptors == before.descriptors, "descriptors are left")
        disturbers.end()
        endOfChecks()
    }

    /// Does all the work, and waits until it is done.
    private func cultivate(seconds: Int) throws {
        let field = try Field(loops: loops, seed: seed)
        let patience = Patience(seconds: patience)
        let workers = field.start(threads: threads, patience, seed: seed)
        if let memory { Limit.memory.set(memory * 1024) }
        if let moreThreads { Limit.threads.set(moreThreads) }
        sleepFor(seconds: seconds)
        if memory != nil { Limit.memory.lift() }
        if moreThreads != nil { Limit.threads.lift() }
        field.isOver.set(1)
        // Twice as long: a rally waits once itself.
        let longer = Patience(seconds: 2 * patience.seconds)
        longer.wait(for: "threads that use the loops", findings: field.weigh) {
            for worker in workers { worker.join() }
        }
        field.settle(within: patience)
        field.weigh()
        longer.wait(for: "the threads of the loops") { field.end() }
    }

    /// Signals end a sleep early.
    private func sleepFor(seconds: Int) {
        let end = RunLoop.Instant.now + .seconds(seconds)
        while RunLoop.Instant.now < end { usleep(100_000) }
    }
}
