// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import Glibc
import Logging
import RunLoops
import RunLoopsCalendar
import RunLoopsEvents
import RunLoopsLog
import RunLoopsPorts

/// Everything that reaches the daemon from outside: changes in the folder, commands, signals, dates, the service manager.
final class Daemon {
    private let log: Logger
    private let folder: String
    private let loop = RunLoop.current
    private let manager: NotifySocket?
    private let loopLog: LoopLog
    private let spool: Spool
    private var watch: FileWatch?
    private var port: RunLoop.MessagePort?
    private var housekeeping: CalendarTimer?

    init(folder: String, portName: String, _ log: Logger) throws {
        self.folder = folder
        self.log = log
        manager = try NotifySocket.fromEnvironment(unsetting: true)
        loopLog = LoopLog(log)
        loopLog.add(loop)
        spool = try Spool(folder, Settings(file: "\(folder)/settings"), log)
        spool.tell = { [manager] status in try? manager?.send(.status(status)) }

        try watchFolder()
        try handleSignals()
        try takeCommands(portName)
        try scheduleHousekeeping()
        if let timer = try manager?.watchdogTimer(onFailure: { log.warning("the service manager is deaf: \($0)") }) {
            loop.add(timer, in: .common)
        }
    }

    func run() {
        try? manager?.send(.ready)
        log.notice("started")
        loop.run()
        port?.invalidate()
        log.notice("ended: \(spool.status)")
    }

    // MARK: The folder

    private func watchFolder() throws {
        // A producer that writes a thousand files wakes the daemon twenty times a second, and not for each.
        let changes: FileWatch.Changes = [.created, .moved, .written]
        let watch = try FileWatch(["\(folder)/in"], for: changes, coalescing: .milliseconds(50)) { [self] _, events in
            for event in events {
                switch event {
                case .created(let file), .written(let file): spool.claim(path: file.path)
                case .moved(_, let path): spool.claim(path: path)
                case .overflowed:
                    log.warning("changes were lost: looking at the whole folder")
                    spool.claimAll()
                case .vanished(let path):
                    log.critical("\(path) is gone")
                    end()
                default: break
                }
            }
        }
        try loop.add(watch, in: .common)
        self.watch = watch
        // After the watch: no file can come in between.
        spool.claimAll()
    }

    /// Each day, by the clock of this machine's zone.
    private func scheduleHousekeeping() throws {
        let parts = spool.settings.housekeeping
        let time = try CalendarSchedule.Time(hour: parts[0], minute: parts[1], second: parts[2])
        // A timer for the same time stays: its date may have come a moment ago.
        if let housekeeping, housekeeping.schedule.time == time { return }
        let timer = CalendarTimer(.daily(at: time, in: .current), label: "housekeeping") { [self] _, _ in
            spool.removeOldResults()
        }
        try loop.add(timer, in: .common)
        housekeeping?.invalidate()
        housekeeping = timer
    }

    // MARK: Signals

    private func handleSignals() throws {
        // `isComplete` in Folder.swift says why.
        signal(SIGIO, SIG_IGN)
        try loop.add(SignalSource(SIGHUP) { [self] _, _ in reload() }, in: .common)
        for number in [SIGTERM, SIGINT] {
            let source = try SignalSource(number) { [self] source, delivery in
                log.notice("signal \(delivery.signal) of process \(delivery.sender?.process ?? 0): ending")
                // The next one ends the process at once.
                source.invalidate()
                end()
            }
            try loop.add(source, in: .common)
        }
    }

    private func reload() {
        try? manager?.send(.reloading)
        do {
            spool.settings = try Settings(file: "\(folder)/settings")
            try scheduleHousekeeping()
            log.notice("reloaded: \(spool.settings.workers) workers")
        } catch {
            log.error("not reloaded: \(error)")
        }
        try? manager?.send(.ready)
    }

    private func end() {
        try? manager?.send(.stopping)
        watch?.invalidate()
        spool.end(within: .seconds(5)) { [loop] in loop.stop() }
    }

    // MARK: Commands

    /// From a port, from standard input, and from the sockets that the service manager has opened.
    private func takeCommands(_ portName: String) throws {
        let port = RunLoop.MessagePort { [self] in RunLoop.MessagePort.Message(text: answer($0.text)) }
        try loop.add(port, in: .common)
        try port.publish(as: portName)
        self.port = port

        try serve(.standardInput, .standardOutput)
        for socket in try ListenDescriptor.inherited() {
            let listener = try SocketListener(adopting: socket) { [self] _, event in
                guard case .accepted(let socket) = event else { return log.warning("\(event)") }
                do {
                    try serve(RunLoop.File(socket), RunLoop.File(socket))
                } catch {
                    log.warning("connection refused: \(error)")
                }
            }
            try loop.add(listener, in: .common)
        }
    }

    /// Answers each line with a line, as fast as the other side reads.
    private func serve(_ input: RunLoop.File, _ output: RunLoop.File) throws {
        var reader: InputReader<String>?
        let writer = OutputWriter(output) { [log] _, event in
            switch event {
            case .drained: reader?.isReadingPaused = false
            case .finished: break
            case .failed(let error):
                log.info("answers are not read: \(error)")
                reader?.invalidate()
            }
        }
        let made = InputReader(input, as: .lines(limit: 4096)) { [self] reader, event in
            switch event {
            case .received(let lines):
                if !writer.write(lines.map { answer($0) + "\n" }.joined().utf8) { reader.isReadingPaused = true }
            case .ended: writer.finish()
            case .failed(let error):
                log.info("commands are not read: \(error)")
                writer.finish()
            }
        }
        reader = made
        try loop.add(writer, in: .common)
        try loop.add(made, in: .common)
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
