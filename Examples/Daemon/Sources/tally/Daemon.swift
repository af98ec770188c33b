// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import Glibc
import Logging
import RunLoops
import RunLoopsCalendar
import RunLoopsEvents
import RunLoopsLog

/// Everything that reaches the daemon from outside: files, settings, signals, dates, commands, the service manager.
final class Daemon {
    private let log: Logger
    private let folder: String
    private let loop = RunLoop.current
    private let service: ManagedService
    private let loopLog: LoopLog
    private let spool: Spool
    private var housekeeping: CalendarTimer?

    init(folder: String, _ log: Logger) throws {
        (self.folder, self.log) = (folder, log)
        service = try ManagedService { log.warning("the service manager is deaf: \($0)") }
        loopLog = LoopLog(log)
        loopLog.add(loop)
        spool = try Spool(folder, Settings(file: "\(folder)/settings"), log)
        spool.tell = { [service] in service.send(.status($0)) }

        // `isComplete` in Spool.swift says why.
        signal(SIGIO, SIG_IGN)
        try watchFiles()
        try keepHouse()
        try takeCommands()
    }

    func run() throws {
        log.notice("started")
        try service.run(reload: reload) { [self] done in
            log.notice("ending")
            spool.end(done)
        }
        log.notice("ended: \(spool.status)")
    }

    // MARK: Files and settings

    private func watchFiles() throws {
        // A producer that writes a thousand files wakes the daemon twenty times a second, and not for each.
        let changes: FileWatch.Changes = [.created, .moved, .written]
        let watch = try FileWatch(
            ["\(folder)/in"], for: changes, coalescing: .milliseconds(50), label: "incoming files"
        ) { [self] _, events in
            if events.contains(.overflowed) { log.warning("changes were lost: looking at the whole folder") }
            if events.contains(.vanished("\(folder)/in")) { return service.end() }
            spool.claimFiles()
        }
        try loop.add(watch, in: .common)
        // After the watch: no file can come in between.
        spool.claimFiles()
        let settings = try FileFollower("\(folder)/settings", label: "settings") { [service] _, _ in service.reload() }
        try loop.add(settings, in: .common)
    }

    private func reload() {
        do {
            let settings = try Settings(file: "\(folder)/settings")
            guard settings != spool.settings else { return }
            spool.settings = settings
            try keepHouse()
            log.notice("reloaded: \(settings.workers) workers")
        } catch {
            log.error("not reloaded: \(error)")
        }
    }

    private func keepHouse() throws {
        let schedule = try spool.settings.schedule
        // A timer for the same time stays: its date may have come a moment ago.
        if housekeeping?.schedule == schedule { return }
        housekeeping?.invalidate()
        let timer = CalendarTimer(schedule, label: "housekeeping") { [self] _, _ in spool.removeOldResults() }
        try loop.add(timer, in: .common)
        housekeeping = timer
    }

    // MARK: Commands

    /// From standard input, and from the sockets of the service manager and one of our own.
    private func takeCommands() throws {
        let (limit, label) = (4096, "commands")
        let refused = { [log] (error: RunLoop.SystemCallError) in log.warning("connection refused: \(error)") }
        try loop.answerLines(of: .standardInput, on: .standardOutput, limit: limit, label: label, answer)
        for socket in try ListenDescriptor.inherited() {
            try loop.answerLines(at: socket, limit: limit, label: label, onRefusal: refused, answer)
        }
        // What a daemon that was killed has left there is taken over.
        try loop.answerLines(at: .unix("\(folder)/socket"), limit: limit, label: label, onRefusal: refused, answer)
    }

    private func answer(_ command: String) -> String {
        switch command.split(separator: " ").first {
        case "status": break
        case "pause": spool.isPaused = true
        case "resume": spool.isPaused = false
        default: return "\(command): a command is status, pause or resume"
        }
        return "\(command): \(spool.status)"
    }
}
