// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

internal import RunLoops
internal import RunLoopsLibC

/// This process at one moment: its loops, its tasks and its threads.
struct StandingProcess {
    let tasks: Result<TaskReport, TaskReport.Failure>
    let threads: [ThreadReport]
    private let loops: [String]
    /// The threads that run tasks, as far as an executor has recorded them, by the tasks' ids.
    private let runners: [UInt64: Int32]

    /// The maximum number of lines of one part.
    private static let maxLines = 2000
    /// How long the lock of a loop is waited for, in nanoseconds.
    private static let patience: Int64 = 20_000_000
    /// Items of loops that were described: a closure must not be released on this thread, and the process ends soon.
    private static let kept = Guarded<[AnyObject]>([])

    /// Looks at this process, which takes as long as a search through its memory.
    init(loops: [RunLoop], runners: [UInt64: Int32]) {
        let process = getpid()
        do throws(TaskReport.Failure) { tasks = .success(try TaskReport(of: process)) } catch {
            tasks = .failure(error)
        }
        threads = ThreadReport.threads(of: process)
        self.loops = loops.flatMap(Self.lines)
        self.runners = runners
    }

    private static func lines(_ loop: RunLoop) -> [String] {
        let identity = RunLoop.Identity(thread: loop.threadID)
        let name = identity.isMain ? "the main loop" : "the loop of thread \(identity.thread) \"\(identity.name)\""
        guard let seen = loop.snapshot(timers: 0, patience: patience) else {
            return ["\(name): its lock could not be had in time"]
        }
        let modes = seen.modes.map(\.rawValue).joined(separator: ", ")
        let (text, items) = loop.describeWithItems()
        kept.withLock { $0 += items }
        return ["\(name): \(modes.isEmpty ? "in no run" : "in a run in mode \(modes)")"]
            + text.split(separator: "\n").map { "    \($0)" }
    }

    /// Everything as lines.
    var text: String {
        var parts: [(title: String, lines: [String])] = [("Loops", loops)]
        switch tasks {
        case .success(let report): parts.append(("Tasks", report.lines))
        case .failure(let failure): parts.append(("Tasks", ["This process \(failure)."]))
        }
        parts.append(("Threads", ThreadReport.lines(threads)))
        return parts.filter { !$0.lines.isEmpty }.map { title, lines in
            let more = lines.count > Self.maxLines ? ["  (\(lines.count - Self.maxLines) lines more)"] : []
            return ([title + ":"] + lines.prefix(Self.maxLines).map { "  " + $0 } + more).joined(separator: "\n")
        }.joined(separator: "\n") + "\n"
    }

    /// Lines about the tasks with a name, what they wait for, and the threads that run them.
    ///
    /// - Parameters:
    ///   - task: The name of the test's task; `nil` if the test has none.
    ///   - thread: The test's own thread, which is shown; `nil` for the threads that the tasks need.
    func lines(task: String?, thread: Int32?) -> [String] {
        var shown = thread.map { [$0] } ?? []
        var lines: [String] = []
        // Which tasks are the test's is not known.
        if task == nil, case .success(let report) = tasks { lines = report.ringLines }
        if let task, case .success(let report) = tasks {
            let chain = report.chain(ofTasksNamed: task)
            lines += chain.lines
            for index in chain.tasks {
                let task = report.tasks[index]
                if let runner = runners[task.id] {
                    shown.append(runner)
                } else if task.state == "running" || task.wait == .mainActor {
                    // It runs on an actor, usually the main actor, or waits for it.
                    shown.append(getpid())
                }
            }
        }
        for (index, number) in shown.enumerated() where shown.firstIndex(of: number) == index {
            lines += ThreadReport.lines(threads.filter { $0.number == number })
        }
        return lines
    }
}
