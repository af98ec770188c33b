// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import Foundation
import Subprocess
import SystemPackage

/// The files on their way: from `in` to `taken`, and when a child has converted them to `out`, or to `failed`.
@MainActor final class Spool {
    private struct Job {
        let name: String
        let file: String
        var attempts = 0
    }

    var settings: Settings { didSet { startJobs() } }
    var isPaused = false { didSet { startJobs() } }
    var tell: (String) -> Void = { _ in }

    private let folder: String
    private var waiting: [Job] = []
    /// To cancel a task is to end its child.
    private var children: [String: Task<Void, Never>] = [:]
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
        let current = job
        let task = Task {
            let status: TerminationStatus?
            do {
                let (end, errors) = try await convert(current.file)
                for line in errors.split(separator: "\n") { log(.info, "\(current.name) says \(line)") }
                status = end
            } catch {
                log(.warning, "\(current.name) not converted: \(error)")
                status = nil
            }
            children[current.file] = nil
            finish(current, status)
        }
        children[job.file] = task
        let limit = Task {
            try await Task.sleep(for: .seconds(settings.limit))
            task.cancel()
        }
        // A limit that is not cancelled keeps its task for minutes.
        Task {
            await task.value
            limit.cancel()
        }
    }

    /// How the converter ended, and what it has said.
    private func convert(_ file: String) async throws -> (TerminationStatus, String) {
        let input = try FileDescriptor.open("\(folder)/taken/\(file)", .readOnly)
        let output = try input.closeAfterError {
            let mode: FilePermissions = [.ownerReadWrite, .groupRead, .otherRead]
            return try FileDescriptor.open(
                "\(folder)/out/.\(file)", .writeOnly, options: [.create, .truncate], permissions: mode)
        }
        var options = PlatformOptions()
        options.processGroupID = 0
        options.teardownSequence = [.gracefulShutDown(toProcessGroup: true, allowedDurationToNextStep: .seconds(5))]
        let program = settings.converter[0]
        let result = try await Subprocess.run(
            program.contains("/") ? .path(FilePath(program)) : .name(program),
            arguments: Arguments(Array(settings.converter.dropFirst())), platformOptions: options,
            input: .fileDescriptor(input, closeAfterSpawningProcess: true),
            output: .fileDescriptor(output, closeAfterSpawningProcess: true), error: .string(limit: 65536))
        return (result.terminationStatus, result.standardError)
    }

    private func finish(_ job: Job, _ status: TerminationStatus?) {
        let isDone =
            status == .exited(0) && rename("\(folder)/out/.\(job.file)", "\(folder)/out/\(job.name)") == 0
        let mayEndOtherwise = if case .exited = status { false } else { true }
        if isDone {
            unlink("\(folder)/taken/\(job.file)")
            converted += 1
            log(.info, "converted \(job.name)")
        } else if mayEndOtherwise && job.attempts < 5 {
            log(.warning, "\(job.name) again: \(status.map { "\($0)" } ?? "no status")")
            again(job)
        } else {
            unlink("\(folder)/out/.\(job.file)")
            rename("\(folder)/taken/\(job.file)", "\(folder)/failed/\(job.name)")
            failed += 1
            log(.error, "failed \(job.name): \(status.map { "\($0)" } ?? "no status")")
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

    func end(_ body: @escaping () -> Void) {
        whenIdle = body
        for child in children.values { child.cancel() }
        reportIdle()
    }

    private func reportIdle() {
        if children.isEmpty { whenIdle?() }
    }
}

extension FileDescriptor {
    /// What `body` returns; closes this file if it throws.
    fileprivate func closeAfterError<Result>(_ body: () throws -> Result) throws -> Result {
        do {
            return try body()
        } catch {
            try? close()
            throw error
        }
    }
}
