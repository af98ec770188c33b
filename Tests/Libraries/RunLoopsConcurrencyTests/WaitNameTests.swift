// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import Glibc
import RunLoops
import RunLoopsConcurrency
import RunLoopsDiagnostics
import RunLoopsEvents
import RunLoopsKit
import RunLoopsPorts
import RunLoopsTestSupport
import Testing

@Suite("The names of waits", .ownThread)
struct WaitNameTests {
    /// The names of what the tasks wait for, once all of them wait for a continuation.
    private func names(_ tasks: [String]) throws -> [String: String] {
        let limit = ContinuousClock.now + plenty
        while true {
            let report = try TaskReport(of: getpid())
            let waiting = report.tasks.filter { tasks.contains($0.name ?? "") && $0.wait == .continuation }
            if waiting.count == tasks.count || ContinuousClock.now > limit {
                try #require(waiting.count == tasks.count, "\(report.lines.joined(separator: "\n"))")
                return Dictionary(uniqueKeysWithValues: waiting.map { ($0.name ?? "", $0.waitName ?? "") })
            }
            usleep(5000)
        }
    }

    @Test func `a task says what it waits for in calls of this package, while a tool looks`() async throws {
        TaskWaits.retain()
        defer { TaskWaits.release() }
        let thread = try RunLoopThread(name: "waits")
        let loop = thread.loop
        // No task takes the messages, so that none is answered.
        let (port, messages) = try loop.messages()
        let sender = port.sender
        let child = try Child.spawn(.name("sleep"), arguments: ["1000"], output: .pipe)
        let output = try #require(child.standardOutput)
        let tasks: [String: Task<Void, any Error>] = [
            "timer": Task(name: "timer") { try await loop.clock.sleep(for: .seconds(1000)) },
            "closure": Task(name: "closure") { try await loop.result(in: RunLoop.Mode("never")) {} },
            "child": Task(name: "child") { _ = try await loop.exit(of: child) },
            "input": Task(name: "input") { for try await _ in try loop.lines(of: output) {} },
            "message": Task(name: "message") { _ = try await sender.request(.init(), on: loop) },
            "thread": Task(name: "thread") { try await thread.ended() },
        ]
        defer {
            for task in tasks.values { task.cancel() }
            kill(child.process, SIGKILL)
            waitUntil { child.exit != nil }
            thread.stop()
        }
        let names = try names(Array(tasks.keys))
        let own = "the loop of thread \(loop.threadID)"
        #expect(names["timer"] == "a timer in mode \(RunLoop.Mode.common.rawValue) of \(own)")
        #expect(names["closure"] == "a closure in mode never of \(own)")
        #expect(names["child"] == "the end of child \(child.process)")
        #expect(names["input"] == "input: \(output)")
        #expect(names["message"] == "the reply to a message, in mode \(RunLoop.Mode.common.rawValue) of \(own)")
        #expect(names["thread"] == "the end of \(thread.identity)")
        // The wait has ended: its name is forgotten, as the task may have another one.
        tasks["timer"]?.cancel()
        _ = await tasks["timer"]?.result
        #expect(!TaskWaits.present.values.contains("a timer in mode \(RunLoop.Mode.common.rawValue) of \(own)"))
        withExtendedLifetime(messages) { port.invalidate() }
    }

    @Test func `no name is kept while no tool looks`() async throws {
        // Another test may look meanwhile.
        guard !TaskWaits.areWanted else { return }
        let thread = try RunLoopThread(name: "quiet")
        defer { thread.stop() }
        try await thread.loop.clock.sleep(for: .milliseconds(1))
        #expect(!TaskWaits.present.values.contains { $0.hasSuffix("of thread \(thread.loop.threadID)") })
    }
}
