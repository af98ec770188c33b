// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

public import RunLoops

extension Child {
    /// Waits until the child has ended, and returns how it ended.
    ///
    /// The calling thread's loop runs in `mode` meanwhile. In the mode `RunLoop.Mode.taskDeathCheck` only what the
    /// program has added to that mode is served, and traces and dumps name the wait. To serve the items of another mode
    /// meanwhile, such as the default mode, pass that mode.
    ///
    /// A stop of this run by a callout does not end the wait.
    ///
    /// - Parameters:
    ///   - limit: How long to wait; without a limit if `nil`.
    ///   - mode: The mode to run the calling thread's loop in.
    /// - Returns: How the child ended; `nil` if it still runs when the limit has passed, or if the thread is ending.
    /// - Throws: the error with which the system refuses to add the child to the loop.
    ///
    /// Corresponds to `waitUntilExit()` of Foundation's `Process`. Thread safety: any thread, several at the same time.
    @available(*, noasync, message: "The wait blocks a thread of Swift's pool: await exit(of:).")
    public func waitForExit(
        within limit: Duration? = nil, in mode: RunLoop.Mode = .taskDeathCheck
    ) throws(RunLoop.SystemCallError) -> ChildSource.Exit? {
        precondition(mode != .common, "A thread cannot wait for a child in the common modes: name one of them.")
        let loop = RunLoop.current
        var exit: ChildSource.Exit?
        let source = ChildSource(self, label: "wait for \(process)") { _, end in exit = end }
        defer { source.invalidate() }
        try loop.add(source, in: mode)
        let latest = limit.map { RunLoop.Instant.now.advanced(by: $0) }
        while exit == nil {
            switch loop.run(in: mode, until: latest, returnsAfterSource: true) {
            case .timedOut, .finished: return exit
            default: continue
            }
        }
        return exit
    }
}
