// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import Foundation
import RunLoopsTestSupport
import Synchronization
import Testing

@testable import RunLoopsDiagnostics

/// Whether the runtime has the names of its internal functions, by which the tasks that end a sleep are known.
///
/// Debian strips them.
private let runtimeHasNames =
    shell(#"readelf -SW "$(grep -om1 '/.*libswift_Concurrency.so' /proc/\#(getpid())/maps)" | grep -c symtab"#) != "0\n"

/// A program that plays a scene with tasks until the object is released.
final class TaskScene {
    private let process = Process()
    private let input = Pipe()

    convenience init(_ words: String...) throws {
        try self.init(path: try #require(BuiltPrograms.path("RunLoopsTasksPrograms")), words)
    }

    /// Starts another build of the program.
    init(path: String, _ words: [String]) throws {
        process.executableURL = URL(fileURLWithPath: path)
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
    "The tasks of a program", .ownThread,
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
            // The task for the end of a sleep is made after the one that sleeps, perhaps while the memory is searched.
            report.tasks.count { $0.wait == .sleep && !$0.isSleepTimer } == 1001
                && (!runtimeHasNames || report.tasks.count(where: \.isSleepTimer) == 1001)
        }
        let line = report.lines.first { $0.contains(" and 999 tasks like it: suspended, waits for the end of a sleep") }
        #expect(line != nil, "\(report.lines.prefix(20))")
        #expect(report.tasks.count(where: \.isSleepTimer) == (runtimeHasNames ? 1001 : 0))
        #expect(report.lines.count < 20, "\(report.lines.prefix(40))")
    }

    @Test func `a detached task has no parent, and its priority is shown`() throws {
        let report = try TaskScene("detached").report(until: "forgotten", waitsFor: .continuation)
        #expect(report["forgotten"]?.parent == nil)
        #expect(report["forgotten"]?.priority == 0x09)
        #expect(report.lines.contains { $0.contains("\"forgotten\": suspended, background priority") })
    }

    @Test(.enabled(if: isFull)) func `a busy machine changes nothing`() throws {
        let busy = (0..<8).map { _ in
            let process = Process()
            process.executableURL = URL(fileURLWithPath: "/bin/sh")
            process.arguments = ["-c", "while :; do :; done"]
            return process
        }
        defer {
            for process in busy where process.isRunning {
                kill(process.processIdentifier, SIGKILL)
                process.waitUntilExit()
            }
        }
        for process in busy { try process.run() }
        let report = try TaskScene("group").report { report in
            (0..<3).allSatisfy { report["part \($0)"]?.wait == .sleep }
        }
        let parts = try (0..<3).map { try #require(report.position("part \($0)")) }
        #expect(report.tasks[try #require(report.tasks[parts[0]].parent)].wait == .group(parts))
        #expect(try TaskScene("deadlock", "3").report { !$0.rings.isEmpty }.rings.first?.count == 3)
    }

    /// Makes another build of the program with a command of a shell; `$own` is the program, `$new` the other one.
    private func build(_ command: String) throws -> String {
        let new = "/tmp/tasks-\(getpid())-\(UInt64.random(in: 0 ... .max))"
        let own = try #require(BuiltPrograms.path("RunLoopsTasksPrograms"))
        let output = shell("own='\(own)'; new=\(new); \(command) 2>&1")
        try #require(access(new, X_OK) == 0, "\(output)")
        return new
    }

    @Test(.enabled(if: shell("command -v strip") != ""))
    func `a program without symbols has tasks and waits, and no names of functions`() throws {
        let path = try build("strip -o $new $own")
        defer { unlink(path) }
        let report = try TaskScene(path: path, ["deadlock", "2"]).report { !$0.rings.isEmpty }
        #expect(report.rings.first?.map { report.tasks[$0].name } == ["knot 0", "knot 1"])
        let stack = report["knot 0"]?.stack ?? []
        #expect(stack.contains("Swift.Task.value.getter : A") == runtimeHasNames, "\(stack)")
        #expect(!stack.contains { $0.contains("takeASlot") })
        let actor = try TaskScene(path: path, ["actor"])
        #expect(try actor.report(until: "taker", waitsFor: .actor("Store"))["taker"]?.state == "enqueued")
    }

    @Test(.enabled(if: isFull && shell("command -v swiftc") != ""))
    func `a program with the static standard library is read, unless its symbols were removed`() throws {
        let sources = #filePath.split(separator: "/").dropLast(2).joined(separator: "/")
        let path = try build(
            "swiftc -static-stdlib -parse-as-library -o $new /\(sources)/RunLoopsTasksPrograms/*.swift")
        defer { unlink(path) }
        let report = try TaskScene(path: path, ["deadlock", "2"]).report { !$0.rings.isEmpty }
        #expect(report.rings.first?.map { report.tasks[$0].name } == ["knot 0", "knot 1"])
        #expect(report["knot 0"]?.stack.contains { $0.contains("takeASlot") } == true)
        let group = try TaskScene(path: path, ["group"]).report { $0["part 2"]?.wait == .sleep }
        #expect(group.tasks.contains { $0.children.count == 3 })
        let stripped = try build("strip -o $new \(path)")
        defer { unlink(stripped) }
        let scene = try TaskScene(path: stripped, ["sleeping", "1"])
        // Until it has become the other program it is this one, which has tasks.
        var failure: TaskReport.Failure?
        repeat {
            do throws(TaskReport.Failure) { _ = try TaskReport(of: scene.number) } catch { failure = error }
        } while failure == nil
        #expect(failure == .noRuntime)
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

    @Test(.disabled(if: Sanitizer.isAny, "a sanitizer leaves no room for a table of its own size"))
    func `a table that is larger than the machine's memory is not searched for tasks`() throws {
        // As large as the table of the address sanitizer; no page of it is touched.
        let size = 14 << 40
        let table = mmap(nil, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0)
        try #require(table != MAP_FAILED)
        defer { munmap(table, size) }
        let place = UInt64(UInt(bitPattern: table)) + UInt64(size / 2)
        let memory = try ProcessMemory(of: getpid())
        let region = try #require(ProcessMemory.regions(memory.list).first { $0.start <= place && place < $0.end })
        #expect(!region.canHaveTasks)
        // A page for each of its pages would be asked for, a quarter of an hour's work.
        let found = memory.addresses(of: 0x1234_5678_9ABC_DEF1, in: [region], most: 1)
        #expect(found.bytes == 0)
    }

    @Test func `words behind a page that cannot be read are found`() throws {
        let (page, pages) = (sysconf(CInt(_SC_PAGESIZE)), 3)
        let start = try #require(
            mmap(nil, pages * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0))
        try #require(start != MAP_FAILED)
        let word: UInt64 = 0x1234_5678_9ABC_DEF3
        // SAFETY: both are in the pages that were mapped, and the page between them is not accessed.
        for offset in [0, 2 * page] { start.storeBytes(of: word, toByteOffset: offset, as: UInt64.self) }
        defer { munmap(start, pages * page) }
        // A page behind the end of its file.
        var name = Array("/tmp/pages-XXXXXX".utf8CString)
        let file = mkstemp(&name)
        try #require(file >= 0)
        unlink(name)
        defer { close(file) }
        let middle = mmap(start + page, page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_FIXED, file, 0)
        try #require(middle == start + page)
        let first = UInt64(UInt(bitPattern: start))
        let region = ProcessMemory.Region(
            start: first, end: first + UInt64(pages * page), canHaveTasks: true, path: [])
        // With the kernel's table of pages, it would be left out before.
        let memory = try ProcessMemory(of: getpid(), asksForPages: false)
        let found = memory.addresses(of: word, in: [region], most: 9)
        #expect(found.addresses == [first, first + UInt64(2 * page)])
        #expect(found.bytes == UInt64(2 * page))
    }

    @Test func `a region that grew while the list was made is listed once`() {
        let list = """
            1000-3000 rw-p 00000000 00:00 0
            1000-5000 rw-p 00000000 00:00 0
            2000-5000 rw-p 00000000 00:00 0
            6000-7000 r--p 00000000 08:01 12 /lib/a b

            """
        let regions = ProcessMemory.regions(Array(list.utf8))
        #expect(regions.map(\.start) == [0x1000, 0x3000, 0x6000])
        #expect(regions.map(\.end) == [0x3000, 0x5000, 0x7000])
        #expect(regions.map(\.canHaveTasks) == [true, true, false])
    }

    // MARK: Agreement

    @Test(arguments: [1, 10, 100, 1000])
    func `what tasks wait for agrees with what they say themselves`(count: Int) throws {
        let table = try AgreementTable(workers: count)
        let scene = try TaskScene("agree", "\(count)", table.path)
        _ = try scene.report { report in (0..<count).allSatisfy { report.position("worker \($0)") != nil } }
        var tally = Agreement()
        for _ in 0..<(fuzzedInputs(orElse: 40) / 4) {
            let before = table.read()
            let report = try TaskReport(of: scene.number)
            tally.compare(report, before, table.read())
        }
        #expect(tally.wrong.isEmpty, "\(tally.wrong.count): \(tally.wrong.prefix(5))")
        #expect(tally.compared > 0)
        print("\(count) tasks: \(tally)")
    }

    @Test(arguments: [1, 10, 100, 1000])
    func `tasks that change without pause are all found, and each wait is one of theirs`(count: Int) throws {
        let scene = try TaskScene("change", "\(count)")
        _ = try scene.report { report in (0..<count).allSatisfy { report.position("worker \($0)") != nil } }
        var (waits, wrong) = (0, [String]())
        for _ in 0..<(fuzzedInputs(orElse: 40) / 4) {
            let report = try TaskReport(of: scene.number)
            var workers = Set<String>()
            for task in report.tasks where task.state != "complete" {
                guard let name = task.name, name.hasPrefix("worker ") else { continue }
                if !workers.insert(name).inserted { wrong.append("\(name) is there twice") }
                guard let wait = task.wait else { continue }
                waits += 1
                if let fault = report.fault(wait, of: name) { wrong.append("\(name): \(fault)") }
            }
            if workers.count != count { wrong.append("\(workers.count) workers of \(count)") }
        }
        #expect(wrong.isEmpty, "\(wrong.count): \(wrong.prefix(5))")
        #expect(waits > 0)
    }
}

extension TaskReport {
    /// Returns what is wrong with the wait of a worker that changes without pause.
    fileprivate func fault(_ wait: Wait, of name: String) -> String? {
        let number = name.dropFirst("worker ".count)
        switch wait {
        case .task(let other?):
            let target = tasks[other]
            // A task that ends has no name any longer. The ids are compared by the test above.
            if target.name ?? "target \(number)" == "target \(number)" { return nil }
            return target.parent.map { tasks[$0].name } == name ? nil : "\(target)"
        case .group(let members):
            // A child that ends has no name any longer, but a parent.
            return members.map { tasks[$0] }
                .first { $0.name.map { $0 != "member \(number)" } ?? ($0.parent.map { tasks[$0].name } != name) }
                .map { "\($0)" }
        case .actor("Turnstile"), .task(nil), .sleep, .continuation, .executor: return nil
        default: return "\(wait)"
        }
    }
}

/// The file in which the workers of a program say what they wait for.
private final class AgreementTable {
    struct Entry: Equatable {
        var number: UInt64
        var kind: UInt64
        var task: UInt64
    }

    let path: String
    private let workers: Int
    private let words: UnsafeMutablePointer<Atomic<UInt64>>
    private var size: Int { workers * 32 }

    init(workers: Int) throws {
        self.workers = workers
        var template = Array("/tmp/agreement-XXXXXX".utf8CString)
        let file = mkstemp(&template)
        try #require(file >= 0)
        defer { close(file) }
        path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
        try #require(ftruncate(file, off_t(workers * 32)) == 0)
        let memory = mmap(nil, workers * 32, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0)
        words = try #require(memory == MAP_FAILED ? nil : memory).assumingMemoryBound(to: Atomic<UInt64>.self)
    }

    deinit {
        munmap(words, size)
        unlink(path)
    }

    /// The entries now; `nil` for one that is being changed.
    func read() -> [Entry?] {
        (0..<workers).map { worker in
            let own = words + worker * 4
            let number = own[0].load(ordering: .sequentiallyConsistent)
            let entry = Entry(
                number: number, kind: own[1].load(ordering: .sequentiallyConsistent),
                task: own[2].load(ordering: .sequentiallyConsistent))
            return number % 2 == 0 && own[0].load(ordering: .sequentiallyConsistent) == number ? entry : nil
        }
    }
}

/// A comparison of waits that were read from outside with those that the tasks have said.
private struct Agreement: CustomStringConvertible {
    var snapshots = 0
    /// Waits of workers that have said the same before and after the snapshot.
    var compared = 0
    /// Workers that have changed during the snapshot: nothing is known of them.
    var changed = 0
    /// Waits for a task that is complete, whose id is right.
    var complete = 0
    /// Waits for a task that was freed before it was read.
    var gone = 0
    /// Workers that have said that they wait, and are ready: they wait for a thread.
    var ready = 0
    var retries = 0
    var unsettled = 0
    var wrong: [String] = []

    var description: String {
        "\(snapshots) snapshots, \(compared) waits compared, \(wrong.count) wrong; for a complete task \(complete), for a freed "
            + "task \(gone), for a thread \(ready); \(changed) workers changed meanwhile; \(retries) retries, \(unsettled) unsettled"
    }

    mutating func compare(_ report: TaskReport, _ before: [AgreementTable.Entry?], _ after: [AgreementTable.Entry?]) {
        snapshots += 1
        retries += report.retries
        for task in report.tasks where task.state != "complete" {
            guard let name = task.name, let worker = Int(name.dropFirst("worker ".count)), name.hasPrefix("worker ")
            else {
                continue
            }
            if !task.isSettled { unsettled += 1 }
            guard let entry = before[worker], entry == after[worker] else {
                changed += 1
                continue
            }
            guard let wait = task.wait else { continue }
            compared += 1
            if !isRight(wait, entry, worker, report) { wrong.append("\(name) said \(entry), found \(wait): \(task)") }
        }
    }

    private mutating func isRight(
        _ wait: TaskReport.Wait, _ entry: AgreementTable.Entry, _ worker: Int, _ report: TaskReport
    ) -> Bool {
        switch (wait, entry.kind) {
        case (.executor, _):
            ready += 1
            return true
        case (.task(nil), 1), (.task(nil), 5):
            gone += 1
            return true
        case (.task(let other?), 1):
            if report.tasks[other].state == "complete" { complete += 1 }
            return report.tasks[other].id == entry.task
        case (.task(let other?), 5):
            if report.tasks[other].state == "complete" { complete += 1 }
            return report.tasks[other].parent.map { report.tasks[$0].name } == "worker \(worker)"
        case (.group(let members), 2): return members.allSatisfy { report.tasks[$0].name == "member \(worker)" }
        case (.continuation, 3), (.sleep, 4), (.actor("Turnstile"), 6): return true
        default: return false
        }
    }
}
