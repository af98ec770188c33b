// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import Foundation

/// Everything that reaches the daemon from outside: changes in the folder, commands, signals, dates, the service manager.
@MainActor final class Daemon {
    private let folder: String
    private let manager: ServiceManager?
    private let spool: Spool
    private var watch: FolderWatch?
    private var housekeeping: (any DispatchSourceTimer)?
    private var watchdog: (any DispatchSourceTimer)?
    private var signals: [any DispatchSourceSignal] = []
    private var listeners: [any DispatchSourceRead] = []

    init(folder: String) throws {
        self.folder = folder
        manager = ServiceManager()
        spool = try Spool(folder, Settings(file: "\(folder)/settings"))
        spool.tell = { [manager] status in manager?.send("STATUS=\(status)") }

        try watchFolder()
        handleSignals()
        takeCommands()
        scheduleHousekeeping()
        startWatchdog()
    }

    func run() -> Never {
        manager?.send("READY=1")
        log(.notice, "started")
        while true { RunLoop.main.run() }
    }

    // MARK: The folder

    private func watchFolder() throws {
        watch = try FolderWatch("\(folder)/in") { [self] change in
            switch change {
            case .file(let name): spool.claim(name)
            case .overflow:
                log(.warning, "changes were lost: looking at the whole folder")
                spool.claimAll()
            case .gone:
                log(.critical, "\(folder)/in is gone")
                end()
            }
        }
        spool.claimAll()
    }

    /// Each day, by the clock of this machine's zone; set anew for each day, for a day may have 23 hours.
    private func scheduleHousekeeping() {
        let parts = spool.settings.housekeeping
        let time = DateComponents(hour: parts[0], minute: parts[1], second: parts[2])
        guard let next = Calendar.current.nextDate(after: Date(), matching: time, matchingPolicy: .nextTime) else {
            return log(.error, "no housekeeping at \(parts)")
        }
        housekeeping?.cancel()
        let timer = DispatchSource.makeTimerSource(queue: .main)
        timer.setEventHandler { [self] in
            MainActor.assumeIsolated {
                for name in spool.removeOldResults() { log(.info, "removed \(name)") }
                log(.info, "kept house: \(spool.status)")
                scheduleHousekeeping()
            }
        }
        let seconds = next.timeIntervalSince1970
        timer.schedule(
            wallDeadline: DispatchWallTime(timespec: timespec(tv_sec: Int(seconds.rounded(.up)), tv_nsec: 0)))
        timer.activate()
        housekeeping = timer
    }

    private func startWatchdog() {
        guard let interval = ServiceManager.watchdogInterval else { return }
        let timer = DispatchSource.makeTimerSource(queue: .main)
        timer.setEventHandler { [self] in MainActor.assumeIsolated { manager?.send("WATCHDOG=1") } }
        timer.schedule(
            deadline: .now(), repeating: .microseconds(interval / 2), leeway: .microseconds(interval / 10))
        timer.activate()
        watchdog = timer
    }

    // MARK: Signals

    private func handleSignals() {
        // `isComplete` says why. A socket that nobody reads is reported as an error.
        for number in [SIGIO, SIGPIPE] { signal(number, SIG_IGN) }
        handle(SIGHUP) { [self] in reload() }
        for number in [SIGTERM, SIGINT] {
            handle(number) { [self] in
                log(.notice, "signal \(number): ending")
                end()
            }
        }
    }

    private func handle(_ number: Int32, _ body: @escaping @MainActor () -> Void) {
        signal(number, SIG_IGN)
        let source = DispatchSource.makeSignalSource(signal: number, queue: .main)
        source.setEventHandler { MainActor.assumeIsolated { body() } }
        source.activate()
        signals.append(source)
    }

    private func reload() {
        manager?.sendReloading()
        do {
            spool.settings = try Settings(file: "\(folder)/settings")
            scheduleHousekeeping()
            log(.notice, "reloaded: \(spool.settings.workers) workers")
        } catch {
            log(.error, "not reloaded: \(error)")
        }
        manager?.send("READY=1")
    }

    private func end() {
        manager?.send("STOPPING=1")
        watch?.cancel()
        spool.end { [self] in
            log(.notice, "ended: \(spool.status)")
            exit(EXIT_SUCCESS)
        }
    }

    // MARK: Commands

    /// From standard input, and from the sockets that the service manager has opened.
    private func takeCommands() {
        let lines = LineSplitter()
        FileHandle.standardInput.readabilityHandler = { input in
            let data = input.availableData
            if data.isEmpty { input.readabilityHandler = nil }
            DispatchQueue.main.async { [self] in
                for line in lines.split(data) { FileHandle.standardOutput.write(Data("\(answer(line))\n".utf8)) }
            }
        }
        for socket in ServiceManager.inheritedSockets {
            let source = DispatchSource.makeReadSource(fileDescriptor: socket, queue: .main)
            source.setEventHandler { [self] in MainActor.assumeIsolated { acceptConnection(on: socket) } }
            source.activate()
            listeners.append(source)
        }
    }

    private func acceptConnection(on listener: Int32) {
        let socket = accept(listener, nil, nil)
        if socket < 0 { return log(.warning, "connection refused: \(String(cString: strerror(errno)))") }
        _ = fcntl(socket, F_SETFD, FD_CLOEXEC)
        let channel = DispatchIO(type: .stream, fileDescriptor: socket, queue: .main) { _ in close(socket) }
        channel.setLimit(lowWater: 1)
        let lines = LineSplitter()
        channel.read(offset: 0, length: Int.max, queue: .main) { [self] done, data, error in
            MainActor.assumeIsolated {
                for line in lines.split(Data(data ?? .empty)) {
                    let bytes = Data("\(answer(line))\n".utf8).withUnsafeBytes { DispatchData(bytes: $0) }
                    channel.write(offset: 0, data: bytes, queue: .main) { _, _, error in
                        if error != 0 { channel.close(flags: .stop) }
                    }
                }
                if done { channel.close() }
            }
        }
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
