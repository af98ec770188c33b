// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

internal import CRunLoopsTerminalRestore
internal import RunLoops
internal import RunLoopsEvents
internal import RunLoopsLibC

/// The signals that a program on a terminal gets.
@MainActor final class Signals {
    private let loop: RunLoop
    private let modes: [RunLoop.Mode]
    private let stopRequested: () -> Void
    private let goOn: () -> Void
    private var sources: [SignalSource] = []
    /// Whether another program has the terminal, and therefore receives the signals of keys.
    private var isReleased = false
    /// The sources of the signals with which a shell stops a job and continues it.
    private var jobSources: [SignalSource] = []

    /// - Parameters:
    ///   - loop: Receives the signals.
    ///   - modes: The modes in which it receives them.
    ///   - terminate: Called with a signal that is to end the program.
    ///   - stopRequested: Called when the program is to stop, as by Ctrl-Z.
    ///   - resize: Called when the terminal may have another size.
    ///   - goOn: Called when the process continues after another process has stopped it.
    /// - Throws: The error of a system call that has failed.
    init(
        _ loop: RunLoop, _ modes: [RunLoop.Mode], terminate: @escaping (CInt) -> Void,
        stopRequested: @escaping () -> Void, resize: @escaping () -> Void, goOn: @escaping () -> Void
    ) throws(RunLoop.SystemCallError) {
        (self.loop, self.modes) = (loop, modes)
        (self.stopRequested, self.goOn) = (stopRequested, goOn)
        for signal in [SIGTERM, SIGHUP, SIGINT, SIGQUIT] {
            // A parent that ignores hang-ups, as nohup does, means its children too.
            if signal == SIGHUP, ct_is_ignored(signal) != 0 { continue }
            let isKey = signal == SIGINT || signal == SIGQUIT
            sources.append(
                try source(signal, "end") { [weak self] in
                    // Keys that the user has pressed for another program, as in system(3).
                    if isKey, self?.isReleased == true { return }
                    terminate(signal)
                })
        }
        sources.append(try source(SIGWINCH, "resize", resize))
        try takeJobSignals()
    }

    private func takeJobSignals() throws(RunLoop.SystemCallError) {
        jobSources = [try source(SIGTSTP, "stop", stopRequested)]
        jobSources.append(try source(SIGCONT, "go on", goOn))
    }

    private func source(
        _ signal: CInt, _ label: String, _ body: @escaping () -> Void
    ) throws(RunLoop.SystemCallError) -> SignalSource {
        let source = try SignalSource(signal, label: label) { _, _ in body() }
        for mode in modes { try loop.add(source, in: mode) }
        return source
    }

    /// Stops the processes of the job, as Ctrl-Z does by default; returns when the process continues.
    ///
    /// The call returns at once if no shell could continue the process: the kernel then ignores SIGTSTP, and would not
    /// ignore SIGSTOP.
    func stop() {
        for source in jobSources { source.invalidate() }
        // The signal has its own effect now, and has had it when the call returns: the main thread is the one that gets
        // it.
        kill(0, SIGTSTP)
        // Refused if the system has no descriptor left: then both signals keep their own effects.
        try? takeJobSignals()
    }

    /// Leaves the signals of keys to another program on the terminal.
    ///
    /// Ctrl-Z stops both programs, so that the shell has the terminal; `fg` continues both.
    func release() {
        isReleased = true
        for source in jobSources { source.invalidate() }
    }

    /// Takes all signals again.
    func takeBack() {
        isReleased = false
        // Refused if the system has no descriptor left: then both signals keep their own effects.
        try? takeJobSignals()
    }

    /// Gives the signals their earlier effects again.
    func invalidate() {
        for source in sources + jobSources { source.invalidate() }
        (sources, jobSources) = ([], [])
    }
}
