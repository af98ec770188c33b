// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import Glibc
import Logging
import RunLoops
import RunLoopsEvents

/// The files on their way: from `in` to `taken`, and when a child has converted them to `out`, or to `failed`.
///
/// A file that is moved to `taken` is claimed: whatever is reported about it after that, it is converted once. What is
/// in `taken` at the start was left by a crash, and is converted first.
final class Spool {
    private struct Job {
        /// The name in `taken`: the name in `in` and `out`, with a number in front.
        let file: String
        var attempts = 0
        var name: Substring { file.drop { $0 != "-" }.dropFirst() }
    }

    var settings: Settings { didSet { startJobs() } }
    var isPaused = false { didSet { startJobs() } }
    /// Receives the status as it changes.
    var tell: (String) -> Void = { _ in }

    private let folder: String
    private let log: Logger
    private let loop = RunLoop.current
    private var waiting: [Job] = []
    private var children: [CInt: Child] = [:]
    private var (claimed, converted, failed) = (0, 0, 0)
    /// The results that the housekeeping has not looked at yet.
    private var old: [String] = []
    private var whenEnded: (() -> Void)?

    init(_ folder: String, _ settings: Settings, _ log: Logger) throws {
        (self.folder, self.settings, self.log) = (folder, settings, log)
        for name in ["in", "taken", "out", "failed"] where mkdir("\(folder)/\(name)", 0o755) != 0 && errno != EEXIST {
            throw RunLoop.SystemCallError(call: "mkdir \(name)", code: errno)
        }
        waiting = names(in: "taken").map { Job(file: $0) }
        claimed = waiting.compactMap { Int($0.file.prefix { $0 != "-" }) }.max() ?? 0
    }

    var status: String {
        "\(waiting.count) waiting, \(children.count) running, \(converted) converted, \(failed) failed"
    }

    private func names(in folder: String) -> [String] {
        let names = try? FileManager.default.contentsOfDirectory(atPath: "\(self.folder)/\(folder)")
        return names?.filter { !$0.hasPrefix(".") } ?? []
    }

    // MARK: Claiming

    /// Takes the files that are complete.
    ///
    /// Whoever still writes a file closes it later, and that is reported too.
    func claimFiles() {
        for name in names(in: "in") where isComplete("\(folder)/in/\(name)") {
            let file = "\(claimed + 1)-\(name)"
            // A file that has gone meanwhile was not for us.
            guard rename("\(folder)/in/\(name)", "\(folder)/taken/\(file)") == 0 else { continue }
            claimed += 1
            waiting.append(Job(file: file))
        }
        startJobs()
    }

    /// Whether a file is there, and no program has it open for writing.
    ///
    /// That is when the kernel grants a lease for reading. A writer that comes while the lease is held waits until the end
    /// of this function, and the kernel sends this process `SIGIO`.
    private func isComplete(_ path: String) -> Bool {
        let file = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC)
        if file < 0 { return false }
        defer { close(file) }
        // F_SETLEASE, which the C module does not export.
        return fcntl(file, 1024, Int32(F_RDLCK)) == 0
    }

    // MARK: Converting

    private func startJobs() {
        while !isPaused, whenEnded == nil, !waiting.isEmpty, children.count < settings.workers {
            var job = waiting.removeFirst()
            job.attempts += 1
            do {
                try start(job)
            } catch {
                log.warning("\(job.name) not started: \(error)")
                again(job)
            }
        }
        tell(status)
    }

    private func start(_ job: Job) throws {
        let child = try Child.spawn(
            .name(settings.converter[0]), arguments: Array(settings.converter.dropFirst()),
            input: .file("\(folder)/taken/\(job.file)"), output: .file("\(folder)/out/.\(job.file)"), error: .pipe,
            group: .new)
        let completion = ChildCompletion(
            child, limit: 65536, timeLimit: .seconds(settings.limit), label: "converter"
        ) { [self] _, result in
            children[child.process] = nil
            switch result {
            case .success(let report): finish(job, report)
            case .failure(let failure):
                log.warning("\(job.name): \(failure)")
                finish(job, failure.report)
            }
        }
        try loop.add(completion, in: .common)
        children[child.process] = child
    }

    private func finish(_ job: Job, _ report: ChildCompletion.Report) {
        for line in report.errorText.split(separator: "\n") { log.info("\(job.name) says \(line)") }
        switch report.exit.status {
        case .exited(0) where rename("\(folder)/out/.\(job.file)", "\(folder)/out/\(job.name)") == 0:
            unlink("\(folder)/taken/\(job.file)")
            converted += 1
            log.info("converted \(job.name)")
        case .signalled where job.attempts < 5:
            log.warning("\(job.name) again: \(report.exit.status)")
            again(job)
        default:
            unlink("\(folder)/out/.\(job.file)")
            rename("\(folder)/taken/\(job.file)", "\(folder)/failed/\(job.name)")
            failed += 1
            log.error("failed \(job.name): \(report.exit.status)")
        }
        if children.isEmpty { whenEnded?() }
        startJobs()
    }

    /// Not at once: what has just failed, such as a spawn without memory, usually fails again.
    private func again(_ job: Job) {
        loop.performLocally(after: .milliseconds(200), in: .common) { [self] in
            waiting.append(job)
            startJobs()
        }
    }

    /// Starts nothing any more, and calls `body` when the children have ended; what is not done stays in `taken`.
    func end(_ body: @escaping () -> Void) {
        whenEnded = body
        for child in children.values { child.terminate(killAfter: .seconds(5), on: loop) }
        if children.isEmpty { body() }
    }

    // MARK: Housekeeping

    /// Removes the results that are older than the settings say, a hundred in a turn: commands come in between.
    func removeOldResults() {
        // One after the other.
        guard old.isEmpty else { return }
        old = names(in: "out")
        removeSome(olderThan: time(nil) - settings.keep)
    }

    private func removeSome(olderThan limit: time_t) {
        for name in old.suffix(100) {
            let path = "\(folder)/out/\(name)"
            // One system call: FileManager looks up the names of owner and group too.
            var file = stat()
            if stat(path, &file) == 0, file.st_mtim.tv_sec < limit, unlink(path) == 0 { log.info("removed \(name)") }
        }
        old.removeLast(min(100, old.count))
        guard !old.isEmpty else { return log.info("kept house: \(status)") }
        loop.performLocally(after: .milliseconds(1), in: .common) { [self] in removeSome(olderThan: limit) }
    }
}
