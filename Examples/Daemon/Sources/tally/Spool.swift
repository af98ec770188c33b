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
        /// The name in `in` and in `out`.
        let name: String
        /// The name in `taken`, with a number in front.
        let file: String
        var attempts = 0
    }

    var settings: Settings { didSet { startJobs() } }
    var isPaused = false { didSet { startJobs() } }
    /// Receives the status once a second at most, while it changes.
    var tell: (String) -> Void = { _ in }

    private let folder: String
    private let log: Logger
    private let loop = RunLoop.current
    private var waiting: [Job] = []
    private var children: [ObjectIdentifier: Child] = [:]
    /// Outputs of children that are not at their end yet; some end after their child.
    private var outputs: Set<ObjectIdentifier> = []
    private var (claimed, converted, failed) = (0, 0, 0)
    /// The results that the housekeeping has not looked at yet.
    private var old: [String] = []
    private var isTelling = false
    private var whenIdle: (() -> Void)?

    init(_ folder: String, _ settings: Settings, _ log: Logger) throws {
        (self.folder, self.settings, self.log) = (folder, settings, log)
        for name in ["in", "taken", "out", "failed"] where mkdir("\(folder)/\(name)", 0o755) != 0 && errno != EEXIST {
            throw RunLoop.SystemCallError(call: "mkdir \(name)", code: errno)
        }
        for file in names(inFolder: "\(folder)/taken") {
            guard let dash = file.firstIndex(of: "-"), let number = Int(file[..<dash]) else { continue }
            claimed = max(claimed, number)
            waiting.append(Job(name: String(file[dash...].dropFirst()), file: file))
        }
    }

    var status: String {
        "\(waiting.count) waiting, \(children.count) running, \(converted) converted, \(failed) failed"
    }

    // MARK: Claiming

    func claim(path: String) { claim(path.split(separator: "/").last.map { String($0) } ?? "") }

    func claimAll() {
        for name in names(inFolder: "\(folder)/in") { claim(name) }
        startJobs()
    }

    private func claim(_ name: String) {
        let path = "\(folder)/in/\(name)"
        // Who still writes the file closes it later, and that is reported too.
        guard !name.hasPrefix("."), isComplete(path) else { return }
        let file = "\(claimed + 1)-\(name)"
        // A file that has gone meanwhile was not for us.
        guard rename(path, "\(folder)/taken/\(file)") == 0 else { return }
        claimed += 1
        waiting.append(Job(name: name, file: file))
        startJobs()
    }

    // MARK: Converting

    private func startJobs() {
        while !isPaused, whenIdle == nil, !waiting.isEmpty, children.count < settings.workers {
            start(waiting.removeFirst())
        }
        tellSoon()
    }

    private func start(_ job: Job) {
        var job = job
        job.attempts += 1
        do {
            let child = try Child.spawn(
                .name(settings.converter[0]), arguments: Array(settings.converter.dropFirst()),
                input: .file("\(folder)/taken/\(job.file)"), output: .file("\(folder)/out/.\(job.file)"), error: .pipe,
                group: .new)
            do {
                if let output = child.standardError { try read(output, of: job) }
                try awaitEnd(of: child, job)
            } catch {
                try? child.send(SIGKILL)
                throw error
            }
        } catch {
            log.warning("\(job.name) not started: \(error)")
            again(job)
        }
    }

    private func awaitEnd(of child: Child, _ job: Job) throws {
        let tooLong = loop.performLocally(after: .seconds(settings.limit), in: .common) { try? child.send(SIGKILL) }
        let end = ChildSource(child, label: "child") { [self] _, exit in
            loop.cancel(tooLong)
            children[ObjectIdentifier(child)] = nil
            finish(job, exit.status)
        }
        try loop.add(end, in: .common)
        children[ObjectIdentifier(child)] = child
    }

    /// What the converter says becomes lines of the log.
    private func read(_ output: RunLoop.File, of job: Job) throws {
        let reader = InputReader(output, as: .lines(limit: 4096), label: "output") { [self] reader, event in
            switch event {
            case .received(let lines): for line in lines { log.info("\(job.name) says \(line)") }
            case .ended: outputEnded(reader)
            case .failed(let error):
                log.warning("\(job.name) has said something unreadable: \(error)")
                outputEnded(reader)
            }
        }
        try loop.add(reader, in: .common)
        outputs.insert(ObjectIdentifier(reader))
    }

    private func outputEnded(_ reader: InputReader<String>) {
        outputs.remove(ObjectIdentifier(reader))
        reportIdle()
    }

    private func finish(_ job: Job, _ status: ChildSource.Status) {
        switch status {
        case .exited(0) where rename("\(folder)/out/.\(job.file)", "\(folder)/out/\(job.name)") == 0:
            unlink("\(folder)/taken/\(job.file)")
            converted += 1
            log.info("converted \(job.name)")
        case .signalled where job.attempts < 5:
            log.warning("\(job.name) again: \(status)")
            again(job)
        default:
            unlink("\(folder)/out/.\(job.file)")
            rename("\(folder)/taken/\(job.file)", "\(folder)/failed/\(job.name)")
            failed += 1
            log.error("failed \(job.name): \(status)")
        }
        startJobs()
        reportIdle()
    }

    /// Not at once: what has just failed, such as a spawn without memory, usually fails again.
    private func again(_ job: Job) {
        loop.performLocally(after: .milliseconds(200), in: .common) { [self] in
            waiting.append(job)
            startJobs()
        }
    }

    // MARK: Status, housekeeping, end

    private func tellSoon() {
        if isTelling { return }
        isTelling = true
        loop.performLocally(after: .seconds(1), in: .common) { [self] in
            isTelling = false
            tell(status)
        }
    }

    /// Removes the results that are older than the settings say, a hundred in a turn: commands come in between.
    func removeOldResults() {
        // One after the other.
        guard old.isEmpty else { return }
        old = names(inFolder: "\(folder)/out")
        removeSome(olderThan: .now - TimeInterval(settings.keep))
    }

    private func removeSome(olderThan limit: Date) {
        for name in old.suffix(100) {
            let path = "\(folder)/out/\(name)"
            if let date = modificationDate(path), date < limit, unlink(path) == 0 { log.info("removed \(name)") }
        }
        old.removeLast(min(100, old.count))
        guard !old.isEmpty else { return log.info("kept house: \(status)") }
        loop.performLocally(after: .milliseconds(1), in: .common) { [self] in removeSome(olderThan: limit) }
    }

    /// Starts nothing any more, and calls `body` when the children have ended; after `limit`, these are killed.
    func end(within limit: Duration, _ body: @escaping () -> Void) {
        whenIdle = body
        loop.performLocally(after: limit, in: .common) { [self] in
            for child in children.values { try? child.send(SIGKILL) }
            // A process that a child has left behind may hold an output open for ever.
            outputs = []
            reportIdle()
        }
        reportIdle()
    }

    private func reportIdle() {
        guard children.isEmpty, outputs.isEmpty, let whenIdle else { return }
        whenIdle()
    }
}
