// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import Foundation

/// The files on their way: from `in` to `taken`, and when a child has converted them to `out`, or to `failed`.
@MainActor final class Spool {
    private struct Job {
        let name: String
        let file: String
        var attempts = 0
    }

    private struct Running {
        let process: Process
        /// Kills the process if it takes too long.
        let limit: DispatchWorkItem
    }

    var settings: Settings { didSet { startJobs() } }
    var isPaused = false { didSet { startJobs() } }
    var tell: (String) -> Void = { _ in }

    private let folder: String
    private var waiting: [Job] = []
    private var children: [ObjectIdentifier: Running] = [:]
    private var outputs: Set<ObjectIdentifier> = []
    private var (claimed, converted, failed) = (0, 0, 0)
    private var isTelling = false
    private var whenIdle: (() -> Void)?

    init(_ folder: String, _ settings: Settings) throws {
        (self.folder, self.settings) = (folder, settings)
        for name in ["in", "taken", "out", "failed"] {
            try FileManager.default.createDirectory(atPath: "\(folder)/\(name)", withIntermediateDirectories: true)
        }
        for file in try names(in: "taken") {
            guard let dash = file.firstIndex(of: "-"), let number = Int(file[..<dash]) else { continue }
            claimed = max(claimed, number)
            waiting.append(Job(name: String(file[dash...].dropFirst()), file: file))
        }
    }

    var status: String {
        "\(waiting.count) waiting, \(children.count) running, \(converted) converted, \(failed) failed"
    }

    private func names(in part: String) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: "\(folder)/\(part)").filter { !$0.hasPrefix(".") }
    }

    // MARK: Claiming

    func claimAll() {
        do {
            for name in try names(in: "in") { claim(name) }
        } catch {
            log(.error, "\(error)")
        }
        startJobs()
    }

    func claim(_ name: String) {
        let path = "\(folder)/in/\(name)"
        guard !name.hasPrefix("."), Self.isComplete(path) else { return }
        let file = "\(claimed + 1)-\(name)"
        guard rename(path, "\(folder)/taken/\(file)") == 0 else { return }
        claimed += 1
        waiting.append(Job(name: name, file: file))
        startJobs()
    }

    /// Whether a file is there, and no program has it open for writing: that is when the kernel grants a lease.
    private static func isComplete(_ path: String) -> Bool {
        let file = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC)
        if file < 0 { return false }
        defer { close(file) }
        // F_SETLEASE, which the C module does not export.
        return fcntl(file, 1024, Int32(F_RDLCK)) == 0
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
            let process = Process()
            let isPath = settings.converter[0].contains("/")
            process.executableURL = URL(fileURLWithPath: isPath ? settings.converter[0] : "/usr/bin/env")
            process.arguments = isPath ? Array(settings.converter.dropFirst()) : settings.converter
            let input = try FileHandle(forReadingFrom: URL(fileURLWithPath: "\(folder)/taken/\(job.file)"))
            let path = "\(folder)/out/.\(job.file)"
            guard FileManager.default.createFile(atPath: path, contents: nil) else {
                throw CocoaError(.fileWriteUnknown)
            }
            let output = try FileHandle(forWritingTo: URL(fileURLWithPath: path))
            let errors = Pipe()
            (process.standardInput, process.standardOutput, process.standardError) = (input, output, errors)

            let (key, current) = (ObjectIdentifier(process), job)
            process.terminationHandler = { process in
                let (reason, status) = (process.terminationReason, process.terminationStatus)
                DispatchQueue.main.async { [self] in
                    children.removeValue(forKey: key)?.limit.cancel()
                    finish(current, reason, status)
                }
            }
            try process.run()
            // The number alone: Dispatch keeps a cancelled item until its time.
            let number = process.processIdentifier
            let limit = DispatchWorkItem { kill(number, SIGKILL) }
            children[key] = Running(process: process, limit: limit)
            DispatchQueue.main.asyncAfter(deadline: .now() + .seconds(settings.limit), execute: limit)
            try? input.close()
            try? output.close()
            read(errors.fileHandleForReading, of: job)
        } catch {
            log(.warning, "\(job.name) not started: \(error)")
            again(job)
        }
    }

    /// What the converter says becomes lines of the log.
    ///
    /// Not by `readabilityHandler`: `FileHandle` closes its descriptor while Dispatch still watches it, and libdispatch
    /// crashes after some hundred children.
    private func read(_ output: FileHandle, of job: Job) {
        let key = ObjectIdentifier(output)
        outputs.insert(key)
        let lines = LineSplitter()
        let channel = DispatchIO(type: .stream, fileDescriptor: output.fileDescriptor, queue: .main) { _ in
            try? output.close()
        }
        channel.setLimit(lowWater: 1)
        channel.read(offset: 0, length: Int.max, queue: .main) { [self] done, data, error in
            MainActor.assumeIsolated {
                for line in lines.split(Data(data ?? .empty)) { log(.info, "\(job.name) says \(line)") }
                guard done else { return }
                channel.close()
                outputs.remove(key)
                reportIdle()
            }
        }
    }

    private func finish(_ job: Job, _ reason: Process.TerminationReason, _ status: Int32) {
        let isDone =
            reason == .exit && status == 0 && rename("\(folder)/out/.\(job.file)", "\(folder)/out/\(job.name)") == 0
        if isDone {
            unlink("\(folder)/taken/\(job.file)")
            converted += 1
            log(.info, "converted \(job.name)")
        } else if reason == .uncaughtSignal && job.attempts < 5 {
            log(.warning, "\(job.name) again: signal \(status)")
            again(job)
        } else {
            unlink("\(folder)/out/.\(job.file)")
            rename("\(folder)/taken/\(job.file)", "\(folder)/failed/\(job.name)")
            failed += 1
            log(.error, "failed \(job.name): \(status)")
        }
        startJobs()
        reportIdle()
    }

    private func again(_ job: Job) {
        DispatchQueue.main.asyncAfter(deadline: .now() + .milliseconds(200)) { [self] in
            waiting.append(job)
            startJobs()
        }
    }

    // MARK: Status, housekeeping, end

    private func tellSoon() {
        if isTelling { return }
        isTelling = true
        DispatchQueue.main.asyncAfter(deadline: .now() + .seconds(1)) { [self] in
            isTelling = false
            tell(status)
        }
    }

    func removeOldResults() -> [String] {
        let limit = Date(timeIntervalSinceNow: -Double(settings.keep))
        return ((try? names(in: "out")) ?? []).filter { name in
            let path = "\(folder)/out/\(name)"
            let date = try? FileManager.default.attributesOfItem(atPath: path)[.modificationDate] as? Date
            guard let date, date < limit else { return false }
            return unlink(path) == 0
        }
    }

    func end(within limit: Int, _ body: @escaping () -> Void) {
        whenIdle = body
        DispatchQueue.main.asyncAfter(deadline: .now() + .seconds(limit)) { [self] in
            for child in children.values { kill(child.process.processIdentifier, SIGKILL) }
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
