// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

internal import CRunLoopsKernel
public import RunLoops
internal import RunLoopsLibC

/// A process that this process has started, with the pipes to it.
///
/// ``spawn(_:arguments:environment:directory:input:output:error:descriptors:group:limits:)`` makes a child. A
/// ``ChildSource`` or ``RunLoops/RunLoop/exit(of:in:)`` reports its end, ``InputReader`` and ``OutputWriter`` serve its
/// pipes. The child's number is never used to find the child: every operation uses a descriptor of that one process (a
/// pidfd), which was made together with the process.
///
/// A child whose end no code has waited for is reaped nevertheless: when the object is released, or, if the child is
/// still running then, at a later spawn. Releasing the object does not end the child.
///
/// Other code that reaps any child (`waitpid(-1, …)`, or an ignored `SIGCHLD`) can take the status away. Since Linux
/// 6.15 the kernel still knows it, without the usage; before, the status is `unknown`. The end is reported in any case.
///
/// Corresponds to Foundation's `Process`.
///
/// Thread safety: all members may be used by any thread.
public final class Child: Sendable, CustomStringConvertible {
    /// The number of the process.
    public let process: CInt
    /// The writing end of the pipe that is the child's standard input, or what is typed in its terminal; `nil` unless the
    /// child was spawned with such a pipe or a terminal.
    public let standardInput: RunLoop.File?
    /// The reading end of the pipe that is the child's standard output, or what its terminal shows; `nil` unless the child
    /// was spawned with such a pipe or a terminal.
    public let standardOutput: RunLoop.File?
    /// The reading end of the pipe that is the child's standard error; `nil` unless the child was spawned with such a
    /// pipe.
    public let standardError: RunLoop.File?
    /// The child's terminal; `nil` unless the child was spawned with a terminal.
    public let terminal: Terminal?

    let file: Descriptor
    let ownGroup: OwnGroup
    private struct State {
        var exit: ChildSource.Exit?
        var isReaped = false
        /// While there are any, the child is not reaped.
        var keepersOfNumber = 0
        /// When this object has first asked the child to end.
        var askedToEnd: RunLoop.Instant?
        /// The groups that were in the foreground of the child's terminal when this object has sent signals.
        var jobs: Set<CInt> = []
    }
    private let state = Guarded(State())

    init(
        _ process: CInt, _ file: Descriptor, _ group: OwnGroup, _ input: RunLoop.File?, _ output: RunLoop.File?,
        _ error: RunLoop.File?, terminal: Terminal? = nil
    ) {
        self.process = process
        self.file = file
        ownGroup = group
        standardInput = input
        standardOutput = output
        standardError = error
        self.terminal = terminal
    }

    deinit {
        if !file.generation.isInherited, exit == nil { Orphans.keep(file) }
    }

    /// How the child has ended; `nil` while it is running.
    ///
    /// The first call after the child's end reaps the child. A forked child of this process gets `nil`.
    /// - Complexity: one system call while the child is running.
    public var exit: ChildSource.Exit? {
        if file.generation.isInherited { return nil }
        return state.withLock { state in
            let reaps = state.keepersOfNumber == 0
            if !state.isReaped, let exit = ChildSource.Exit(process, waitingFor: file, reaps: reaps) {
                // Of a child that other code has reaped meanwhile, the first answer knows more.
                state.exit = state.exit ?? exit
                state.isReaped = reaps
            }
            return state.exit
        }
    }

    /// Sends the child a signal.
    ///
    /// The signal reaches this child or none: never another process that has received the number since. It does not reach
    /// the child's group: ``sendToGroup(_:)``.
    ///
    /// - Parameter signal: The number, such as `SIGTERM`.
    /// - Throws: `ESRCH` if the child has ended and was reaped, `EINVAL` if there is no such signal, `EPERM` if the child
    ///   runs as another user.
    public func send(_ signal: CInt) throws(RunLoop.SystemCallError) {
        let result = file.generation.isInherited ? -ESRCH : rl_pidfd_signal(file.number, signal)
        noteSent(signal, result)
        try check("pidfd_send_signal", result)
    }

    /// Notes when the child was asked to end, for ``description``.
    func noteSent(_ signal: CInt, _ result: CInt) {
        guard signal == askingSignal, result >= 0 else { return }
        state.withLock { $0.askedToEnd = $0.askedToEnd ?? .now }
    }

    /// The number, and how the child has ended, if that is known; otherwise for how long the child has not obeyed a
    /// `SIGTERM`.
    public var description: String {
        let (exit, asked) = state.withLock { ($0.exit, $0.askedToEnd) }
        if let exit { return "<Child \(process)>{\(exit.status)}" }
        let note = asked.map {
            ", \(terminal == nil ? "SIGTERM" : "SIGHUP") \($0.duration(to: .now)) ago: terminate(killAfter:on:in:) ends a child that ignores it"
        }
        return "<Child \(process)>{not reaped\(note ?? "")}"
    }

    // MARK: The number of a child that leads a group

    /// From here on the child is not reaped, so that its number stays its own.
    func keepNumber() { state.withLock { $0.keepersOfNumber += 1 } }

    /// Reaps the child if it has ended, and nobody else keeps its number.
    func releaseNumber() {
        state.withLock { $0.keepersOfNumber -= 1 }
        _ = exit
    }

    /// What `body` returns; `nil` if the child was reaped, so that its number may be another's.
    func withOwnNumber<Result>(_ body: (CInt) -> Result) -> Result? {
        state.withLock { state in
            // Only other code can have reaped it.
            state.isReaped || rl_pidfd_signal(file.number, 0) == -ESRCH ? nil : body(process)
        }
    }

    /// Notes a job of the terminal, and returns all of them.
    func noteJob(_ group: CInt?) -> Set<CInt> {
        state.withLock { state in
            if let group { state.jobs.insert(group) }
            return state.jobs
        }
    }
}

/// Children that were still running when nobody had their objects any more.
///
/// The next spawn reaps those that have ended since: no thread and no signal handler waits for them.
enum Orphans {
    private static let perProcess = PerProcess { Box() }
    private final class Box: Sendable { let files = Guarded<[Descriptor]>([]) }

    static func keep(_ file: Descriptor) { perProcess.own.files.withLock { $0.append(file) } }

    static func reap() {
        // Released without the lock: to release a descriptor is to close it.
        let ended = perProcess.own.files.withLock { files in
            let ended = files.filter { ChildSource.Exit(0, waitingFor: $0, reaps: true) != nil }
            files.removeAll { file in ended.contains { $0 === file } }
            return ended
        }
        withExtendedLifetime(ended) {}
    }
}
