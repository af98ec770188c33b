// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

// What the programs play for the tests: the test runner's main thread is the runner's, so what a main does is seen in
// processes of their own.

import Dispatch
import Glibc
import RunLoops
import RunLoopsConcurrency

/// What is said is said with "NOT ON MAIN" where the thread is not the main one.
@MainActor public func say(_ text: String) {
    print(SystemCalls.threadID == getpid() ? text : "NOT ON MAIN: \(text)")
}

struct Refusal: Error {}

/// What can be played, each in a main of a program of its own.
public enum Scenes {
    /// Plays the scene of that name, in main or in `runMain`.
    @MainActor public static func play(_ scene: String) async throws {
        // Not of the main actor: it runs on the thread that ends the process.
        atexit { @Sendable in print("at exit") }
        switch scene {
        case "threads": try await threads()
        case "preference": await preference()
        case "return": try await everything()
        case "exit":
            try await everything()
            exit(3)
        case "exit elsewhere":
            try await everything()
            DispatchQueue.global().async { @Sendable in exit(4) }
            while true { try await Task.sleep(for: .seconds(60)) }
        case "error":
            try await everything()
            // Swift traps where an async main throws, and a trap flushes nothing.
            fflush(nil)
            throw Refusal()
        case "at once": say("never suspended")
        case "stop": try await stops()
        case "nested": try await nested()
        case "isolation": await isolation()
        case "executor": try await executor()
        case "nested in a job": await nestedInJob()
        case "serve": try await serve()
        default: say("what?")
        }
    }

    /// A part of main after each kind of suspension.
    @MainActor static func threads() async throws {
        say("begins")
        try await Task.sleep(for: .milliseconds(2))
        say("after a sleep")
        await Task.yield()
        say("after a yield")
        await Task.detached {}.value
        say("after a detached task")
        await Elsewhere().visit()
        say("after an actor")
        await withCheckedContinuation { continuation in
            DispatchQueue.main.async { continuation.resume() }
        }
        say("after the main queue")
        await withCheckedContinuation { continuation in
            RunLoop.main.add(.mainActor(.after(.milliseconds(2))) { _ in continuation.resume() }, in: .default)
        }
        say("after a timer")
        let source = RunLoop.Source.mainActor { _ in say("source") }
        RunLoop.main.add(source, in: .common)
        source.signal()
        RunLoop.main.wakeUp()
        while source.isSignalled { await Task.yield() }
        let mode = RunLoop.main.currentMode?.rawValue ?? "no mode"
        say("current is main: \(currentLoop() === RunLoop.main), in \(mode)")
    }

    /// What a task that prefers the loop's executor waits for starts no thread.
    @MainActor static func preference() async {
        let before = threadCount()
        await Task(executorPreference: RunLoop.main.executor) { @MainActor @Sendable in
            await Task.yield()
            await withCheckedContinuation { continuation in
                RunLoop.main.add(.mainActor(.after(.milliseconds(2))) { _ in continuation.resume() }, in: .default)
            }
            try? await RunLoop.main.clock.sleep(for: .milliseconds(2))
            for await _ in RunLoop.main.ticks(every: .milliseconds(2)) { break }
            async let child: Void = Task.yield()
            await child
            say("\(threadCount() - before) threads more")
        }.value
    }

    /// Something of each kind, all of it done when main goes on.
    @MainActor static func everything() async throws {
        var left = 4
        await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
            @MainActor func done(_ text: String) {
                say(text)
                left -= 1
                if left == 0 { continuation.resume() }
            }
            RunLoop.main.add(.mainActor(.after(.milliseconds(40))) { _ in done("timer") }, in: .default)
            DispatchQueue.main.async { MainActor.assumeIsolated { done("queue") } }
            Task {
                try await Task.sleep(for: .milliseconds(20))
                done("task")
            }
            RunLoop.performOnMainActor { done("block") }
        }
        // Not flushed by a newline where the output is a pipe: exit has to do it.
        print("last words")
    }

    /// A stop of the main loop from outside does not end the program.
    @MainActor static func stops() async throws {
        for _ in 0..<3 {
            RunLoop.main.stop()
            try await Task.sleep(for: .milliseconds(2))
        }
        say("still there")
    }

    /// A run nested in a timer's callout serves the main queue and the main actor.
    @MainActor static func nested() async throws {
        await withCheckedContinuation { continuation in
            let timer = RunLoop.Timer.mainActor(.after(.zero)) { _ in
                Task {
                    try await Task.sleep(for: .milliseconds(2))
                    say("task in the nested run")
                    RunLoop.main.stop()
                }
                say("nested: \(RunLoop.main.run(in: .default, for: .seconds(300)))")
                continuation.resume()
            }
            RunLoop.main.add(timer, in: .default)
        }
        say("after the nested run")
    }
}

private func threadCount() -> Int {
    guard let directory = opendir("/proc/self/task") else { return -1 }
    defer { closedir(directory) }
    var count = 0
    while readdir(directory) != nil { count += 1 }
    return count
}

/// For async functions, which may not ask themselves.
private func currentLoop() -> RunLoop { RunLoop.current }

actor Elsewhere {
    func visit() {}
}
