// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

public import RunLoops
public import RunLoopsConcurrency

extension RunLoop {
    /// Returns a sequence of the signals with one number that the process receives.
    ///
    /// Until the sequence ends, the signal has no other effect; then the signal's previous action is restored. While no
    /// task waits, the last 64 signals are kept.
    ///
    /// - Parameters:
    ///   - signal: The number, such as `SIGTERM`.
    ///   - mode: The mode that the source is in; `.common` for all common modes.
    ///   - buffering: Which signals are kept while no task waits.
    /// - Throws: What making a ``SignalSource`` throws.
    public func signals(
        of signal: CInt, in mode: Mode = .common,
        buffering: RunLoop.EventSequence<SignalSource.Delivery>.Buffering = .newest(64)
    ) throws(SystemCallError) -> RunLoop.EventSequence<SignalSource.Delivery> {
        try RunLoop.EventSequence(buffering: buffering) { emitter throws(SystemCallError) in
            let source = try SignalSource.sendable(signal, label: "signals") { emitter.emit($1) }
            try add(source, in: mode)
            return .invalidating(source)
        }
    }

    /// Returns a sequence of changes to files and directories; each element is one report of a ``FileWatch``.
    ///
    /// No change is dropped: while no task waits, all changes are kept.
    ///
    /// - Parameters:
    ///   - paths: What to watch.
    ///   - changes: The changes to report.
    ///   - recursive: Whether directories in directories are watched.
    ///   - exclusion: The names of entries that are neither watched nor reported.
    ///   - window: How long changes are collected, from the first one on, before they are reported; zero to report them
    ///     at once.
    ///   - mode: The mode that the watch is in; `.common` for all common modes.
    ///   - buffering: Which changes are kept while no task waits.
    /// - Throws: What making a ``FileWatch`` throws.
    public func changes(
        at paths: [String], for changes: FileWatch.Changes = .standard, recursive: Bool = false,
        excluding exclusion: FileWatch.Exclusion = .none, coalescing window: Duration = .zero, in mode: Mode = .common,
        buffering: RunLoop.EventSequence<[FileWatch.Event]>.Buffering = .unbounded
    ) throws(SystemCallError) -> RunLoop.EventSequence<[FileWatch.Event]> {
        try RunLoop.EventSequence(buffering: buffering) { emitter throws(SystemCallError) in
            let watch = try FileWatch.sendable(
                paths, for: changes, recursive: recursive, excluding: exclusion, coalescing: window, label: "changes"
            ) { emitter.emit($1) }
            try add(watch, in: mode)
            return .invalidating(watch)
        }
    }

    /// Returns a sequence of the changes to the file at a path, which continues when another file replaces that file.
    ///
    /// - Parameters:
    ///   - path: The path of the file, which need not exist.
    ///   - moment: When the contents of the file count as changed.
    ///   - window: How long changes are collected, from the first one on, before they are reported; zero to report them
    ///     at once.
    ///   - mode: The mode that the follower is in; `.common` for all common modes.
    ///   - buffering: Which changes are kept while no task waits.
    /// - Throws: What making a ``FileFollower`` throws.
    public func changes(
        following path: String, when moment: FileFollower.Moment = .written, coalescing window: Duration = .zero,
        in mode: Mode = .common, buffering: RunLoop.EventSequence<FileFollower.Change>.Buffering = .unbounded
    ) throws(SystemCallError) -> RunLoop.EventSequence<FileFollower.Change> {
        try RunLoop.EventSequence(buffering: buffering) { emitter throws(SystemCallError) in
            let follower = try FileFollower.sendable(path, when: moment, coalescing: window, label: "changes") {
                emitter.emit($1)
            }
            try add(follower, in: mode)
            return .invalidating(follower)
        }
    }
}

extension RunLoop.EventSequence.Stop {
    /// Invalidates a source that its loop alone keeps.
    fileprivate static func invalidating(_ source: EventSource) -> Self {
        Self { [weak source] in source?.invalidate() }
    }
}
