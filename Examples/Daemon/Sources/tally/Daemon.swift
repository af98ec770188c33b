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
    private let manager: NotifySocket?
    private let loopLog: LoopLog
    private let spool: Spool
    private var housekeeping: CalendarTimer?

    init(folder: String, _ log: Logger) throws {
        (self.folder, self.log) = (folder, log)
        manager = try NotifySocket.fromEnvironment(unsetting: true)
        loopLog = LoopLog(log)
        loopLog.add(loop)
        spool = try Spool(folder, Settings(file: "\(folder)/settings"), log)
        spool.tell = { [manager] status in try? manager?.send(.status(status)) }

        try watchFiles()
        try handleSignals()
        try takeCommands()
        try keepHouse()
        if let timer = try manager?.watchdogTimer(onFailure: { log.warning("the service manager is deaf: \($0)") }) {
            loop.add(timer, in: .common)
        }
    }

    func run() {
        try? manager?.send(.ready)
        log.notice("started")
        loop.run()
        log.notice("ended: \(spool.status)")
    }

    private func end() {
        try? manager?.send(.stopping)
        spool.end { [loop] in loop.stop() }
    }

    // MARK: Files and settings

    private func watchFiles() throws {
        // A producer that writes a thousand files wakes the daemon twenty times a second, and not for each.
        let changes: FileWatch.Changes = [.created, .moved, .written]
        let watch = try FileWatch(
            ["\(folder)/in"], for: changes, coalescing: .milliseconds(50), label: "incoming files"
        ) { [self] _, events in
            if events.contains(.overflowed) { log.warning("changes were lost: looking at the whole folder") }
            if events.contains(.vanished("\(folder)/in")) { return end() }
            spool.claimFiles()
        }
        try loop.add(watch, in: .common)
        // After the watch: no file can come in between.
        spool.claimFiles()
        try loop.add(FileFollower("\(folder)/settings", label: "settings") { [self] _, _ in reload() }, in: .common)
    }

    private func reload() {
        do {
            let settings = try Settings(file: "\(folder)/settings")
            guard settings != spool.settings else { return }
            try? manager?.send(.reloading)
            spool.settings = settings
            try keepHouse()
            log.notice("reloaded: \(settings.workers) workers")
        } catch {
            log.error("not reloaded: \(error)")
        }
        try? manager?.send(.ready)
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

    // MARK: Signals

    private func handleSignals() throws {
        // `isComplete` in Spool.swift says why.
        signal(SIGIO, SIG_IGN)
        try loop.add(SignalSource(SIGHUP, label: "SIGHUP") { [self] _, _ in reload() }, in: .common)
        for number in [SIGTERM, SIGINT] {
            let source = try SignalSource(number, label: "end") { [self] source, delivery in
                log.notice("\(delivery): ending")
                // The next one ends the process at once.
                source.invalidate()
                end()
            }
            try loop.add(source, in: .common)
        }
    }

    // MARK: Commands

    /// From standard input, and from the socket of the service manager or one of our own.
    private func takeCommands() throws {
        try serve(.standardInput, .standardOutput)
        for socket in try ListenDescriptor.inherited() {
            try loop.add(SocketListener(adopting: socket, label: "commands") { [self] in accept($0, $1) }, in: .common)
        }
        // What a daemon that was killed has left there is taken over.
        let address = try RunLoop.SocketAddress.unix("\(folder)/socket")
        try loop.add(SocketListener(on: address, label: "commands") { [self] in accept($0, $1) }, in: .common)
    }

    private func accept(_ listener: SocketListener, _ event: SocketListener.Event) {
        do {
            switch event {
            case .accepted(let socket): try serve(RunLoop.File(socket), RunLoop.File(socket))
            case .refused(let error): throw error
            }
        } catch {
            log.warning("connection refused: \(error)")
            // After a refusal the listener waits, until there are descriptors again.
            loop.performLocally(after: .seconds(1), in: .common) { listener.resume() }
        }
    }

    private func serve(_ input: RunLoop.File, _ output: RunLoop.File) throws {
        try loop.answerLines(of: input, on: output, limit: 4096, label: "commands") { [self] in answer($0) }
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
