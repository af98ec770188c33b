// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import Foundation
import RunLoopsTestSupport
import Testing

@testable import RunLoopsDiagnostics

/// A program that plays a scene with tasks until the object is released.
final class TaskScene {
    private let process = Process()
    private let input = Pipe()

    init(_ words: String...) throws {
        process.executableURL = URL(fileURLWithPath: try #require(BuiltPrograms.path("RunLoopsTasksPrograms")))
        process.arguments = words
        process.standardInput = input
        process.standardOutput = FileHandle.nullDevice
        try process.run()
    }

    deinit { end() }

    var number: Int32 { process.processIdentifier }

    /// Ends the program, and waits for its end.
    func end() {
        // The signal that a thread of a test cannot have blocked.
        if process.isRunning { kill(number, SIGKILL) }
        process.waitUntilExit()
    }

    /// Looks at the program until what it shows is what the scene is about.
    func report(until isReady: (TaskReport) -> Bool) throws -> TaskReport {
        let limit = ContinuousClock.now + .seconds(120)
        var last: TaskReport?
        while ContinuousClock.now < limit {
            // Before it has loaded its runtime, the program has none.
            if let report = try? TaskReport(of: number) {
                if isReady(report) { return report }
                last = report
            }
            usleep(5000)
        }
        Issue.record("never seen: \(last?.lines.joined(separator: "\n") ?? "no report")")
        return try TaskReport(of: number)
    }

    /// Looks at the program until a task with the name waits for `wait`.
    func report(until name: String, waitsFor wait: TaskReport.Wait) throws -> TaskReport {
        try report { $0[name]?.wait == wait }
    }
}

extension TaskReport {
    /// The first task with a name that is not complete.
    subscript(name: String) -> Task? { tasks.first { $0.name == name && $0.state != "complete" } }

    func position(_ name: String) -> Int? { tasks.firstIndex { $0.name == name && $0.state != "complete" } }
}

@Suite(
    "The tasks of a program", .ownThread, .timeLimit(.minutes(20)),
    .enabled(if: BuiltPrograms.path("RunLoopsTasksPrograms") != nil))
struct TaskProcessTests {
    @Test func `a task that waits for a group has the group's tasks as children`() throws {
        let report = try TaskScene("group").report { report in
            (0..<3).allSatisfy { report["part \($0)"]?.wait == .sleep }
        }
        let parts = try (0..<3).map { try #require(report.position("part \($0)")) }
        let owner = try #require(report.tasks[parts[0]].parent)
        #expect(report.tasks[owner].wait == .group(parts))
        #expect(report.tasks[owner].children == parts)
        #expect(report.tasks[owner].parent == nil)
        #expect(report.tasks[owner].stack.contains("static RunLoopsTasksPrograms.Program.group() async -> ()"))
        #expect(report.tasks[parts[0]].stack.contains { $0.contains("RunLoopsTasksPrograms.download()") })
        #expect(report.rings.isEmpty)
    }

    @Test func `an async let is a child, and its parent waits for it`() throws {
        let report = try TaskScene("async-let").report { report in
            report.tasks.contains { $0.parent != nil && $0.wait == .sleep && $0.state == "suspended" }
        }
        let child = try #require(report.tasks.firstIndex { $0.parent != nil })
        let parent = try #require(report.tasks[child].parent)
        #expect(report.tasks[parent].wait == .task(child))
        #expect(report.tasks[parent].children == [child])
    }

    @Test func `a task that waits for an actor names the actor's class`() throws {
        let scene = try TaskScene("actor")
        let report = try scene.report(until: "taker", waitsFor: .actor("Store"))
        #expect(report["taker"]?.state == "enqueued")
        #expect(report["holder"]?.state == "running")
        #expect(report["holder"]?.wait == nil)
    }

    @Test func `a task that waits for a blocked main thread waits for the main actor`() throws {
        _ = try TaskScene("main-actor").report(until: "painter", waitsFor: .mainActor)
    }

    @Test func `a task that waits for a continuation shows the function that waits`() throws {
        let report = try TaskScene("continuation").report { $0.tasks.contains { $0.wait == .continuation } }
        let task = try #require(report.tasks.first { $0.wait == .continuation })
        #expect(task.stack.contains("RunLoopsTasksPrograms.waitForAContinuation() async -> ()"), "\(task.stack)")
    }

    @Test func `a cancelled task that waits all the same is shown as cancelled`() throws {
        let report = try TaskScene("cancelled").report(until: "cancelled one", waitsFor: .continuation)
        #expect(report["cancelled one"]?.isCancelled == true)
        let line = "\"cancelled one\": suspended, cancelled, waits for a continuation"
        #expect(report.lines.contains { $0.hasSuffix(line) })
    }

    @Test(arguments: [1, 2, 3, 40])
    func `tasks that wait for each other are the first line`(count: Int) throws {
        let report = try TaskScene("deadlock", "\(count)").report { !$0.rings.isEmpty }
        #expect(report.rings == [try (0..<count).map { try #require(report.position("knot \($0)")) }])
        let ids = report.rings.first?.map { "task \(report.tasks[$0].id) \"\(report.tasks[$0].name ?? "")\"" } ?? []
        try #require(ids.count == count)
        switch count {
        case 1: #expect(report.lines[0] == "\(ids[0]) waits for itself")
        case 2: #expect(report.lines[0] == "\(ids[0]) and \(ids[1]) wait for each other")
        case 3:
            let words = "\(ids[0]) waits for \(ids[1]), which waits for \(ids[2]), which waits for \(ids[0])"
            #expect(report.lines[0] == words)
        default: #expect(report.lines[0].hasSuffix("which waits for 19 more, which waits for \(ids[0])"))
        }
    }

    @Test func `the owner of a group and a member that wait for each other are a ring`() throws {
        let report = try TaskScene("group-deadlock").report { !$0.rings.isEmpty }
        #expect(report.rings == [[try #require(report.position("owner")), try #require(report.position("member"))]])
    }

    @Test func `a thousand sleeping tasks are found, and described once`() throws {
        let report = try TaskScene("sleeping", "1000").report { report in
            report.tasks.count { $0.wait == .sleep && !$0.isSleepTimer } == 1001
        }
        let line = report.lines.first { $0.contains(" and 999 tasks like it: suspended, waits for the end of a sleep") }
        #expect(line != nil, "\(report.lines.prefix(20))")
        #expect(report.tasks.count(where: \.isSleepTimer) == 1001)
        #expect(report.lines.count < 20, "\(report.lines.prefix(40))")
    }

    @Test func `a detached task has no parent, and its priority is shown`() throws {
        let report = try TaskScene("detached").report(until: "forgotten", waitsFor: .continuation)
        #expect(report["forgotten"]?.parent == nil)
        #expect(report["forgotten"]?.priority == 0x09)
        #expect(report.lines.contains { $0.contains("\"forgotten\": suspended, background priority") })
    }

    // MARK: What cannot be read

    @Test func `a process that does not exist, has no tasks or is a zombie has a failure of its own`() throws {
        #expect(throws: TaskReport.Failure.noProcess) { try TaskReport(of: .max) }
        let child = Process()
        child.executableURL = URL(fileURLWithPath: "/bin/sleep")
        child.arguments = ["1000"]
        try child.run()
        defer { child.waitUntilExit() }
        // Until it has become the other program it is this one, which has tasks.
        var failure: TaskReport.Failure?
        repeat {
            do throws(TaskReport.Failure) { _ = try TaskReport(of: child.processIdentifier) } catch { failure = error }
        } while failure == nil
        #expect(failure == .noRuntime)
        kill(child.processIdentifier, SIGKILL)
    }

    @Test func `a process that ends while it is read is reported as ended`() throws {
        let scene = try TaskScene("continuation")
        _ = try scene.report { $0.tasks.contains { $0.wait == .continuation } }
        let memory = try ProcessMemory(of: scene.number)
        scene.end()
        #expect(throws: TaskReport.Failure.ended) { try TaskReport(of: memory) }
    }

    // MARK: Agreement

    @Test func `tasks that change without pause are all found, and no wait is wrong`() throws {
        var (snapshots, waits, gone, retries, unsettled, wrong) = (0, 0, 0, 0, 0, [String]())
        for count in [1, 10, 100, 1000] {
            let scene = try TaskScene("change", "\(count)")
            _ = try scene.report { report in (0..<count).allSatisfy { report.position("worker \($0)") != nil } }
            for _ in 0..<(fuzzedInputs(orElse: 40) / 4) {
                let report = try TaskReport(of: scene.number)
                snapshots += 1
                retries += report.retries
                var workers = Set<String>()
                for task in report.tasks where task.state != "complete" {
                    guard let name = task.name, name.hasPrefix("worker ") else { continue }
                    if !workers.insert(name).inserted { wrong.append("\(name) is there twice") }
                    if !task.isSettled { unsettled += 1 }
                    guard let wait = task.wait else { continue }
                    waits += 1
                    let number = name.dropFirst("worker ".count)
                    switch wait {
                    case .task(nil): gone += 1
                    case .task(let other?):
                        let target = report.tasks[other]
                        // A task that has completed since has no name any longer.
                        if target.state == "complete" { gone += 1 }
                        let isChild = target.parent.map { report.tasks[$0].name } == name
                        let isRight = target.name == "target \(number)" || isChild || target.state == "complete"
                        if !isRight { wrong.append("\(name): \(target)") }
                    case .group(let members):
                        for member in members where report.tasks[member].name != "member \(number)" {
                            wrong.append("\(name): \(report.tasks[member])")
                        }
                    case .actor(let name) where name == "Turnstile": break
                    case .sleep, .continuation, .executor: break
                    default: wrong.append("\(name): \(wait)")
                    }
                }
                if workers.count != count { wrong.append("\(workers.count) workers of \(count)") }
            }
        }
        #expect(wrong.isEmpty, "\(wrong.count): \(wrong.prefix(5))")
        #expect(waits > snapshots)
        print(
            "snapshots \(snapshots), waits \(waits), targets gone \(gone), retries \(retries), unsettled \(unsettled)"
        )
    }
}
