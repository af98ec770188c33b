// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

public import RunLoops
public import RunLoopsConcurrency

extension RunLoop {
    /// The signals of one number that the process receives, as a sequence.
    ///
    /// As long as the sequence lasts, the signal has no other effect; at the end of the sequence the signal's previous
    /// action is restored. Of signals that no task waits for, the last 64 are kept.
    ///
    /// - Parameters:
    ///   - signal: The number, such as `SIGTERM`.
    ///   - mode: The mode that the source is in; `.common` for all common modes.
    ///   - buffering: What is kept of signals that no task waits for.
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

    /// The changes to files and directories, as a sequence; each element is one report of a ``FileWatch``.
    ///
    /// Nothing is dropped: all changes that no task waits for are kept.
    ///
    /// - Parameters:
    ///   - paths: What to watch.
    ///   - changes: The changes to report.
    ///   - recursive: Whether directories in directories are watched.
    ///   - window: For how long changes are collected, from the first on; zero for not at all.
    ///   - mode: The mode that the watch is in; `.common` for all common modes.
    ///   - buffering: What is kept of changes that no task waits for.
    /// - Throws: What making a ``FileWatch`` throws.
    public func changes(
        at paths: [String], for changes: FileWatch.Changes = .standard, recursive: Bool = false,
        coalescing window: Duration = .zero, in mode: Mode = .common,
        buffering: RunLoop.EventSequence<[FileWatch.Event]>.Buffering = .unbounded
    ) throws(SystemCallError) -> RunLoop.EventSequence<[FileWatch.Event]> {
        try RunLoop.EventSequence(buffering: buffering) { emitter throws(SystemCallError) in
            let watch = try FileWatch.sendable(
                paths, for: changes, recursive: recursive, coalescing: window, label: "changes"
            ) { emitter.emit($1) }
            try add(watch, in: mode)
            return .invalidating(watch)
        }
    }

    /// The changes to the file at a path, as a sequence that goes on when another file replaces the file.
    ///
    /// - Parameters:
    ///   - path: The file, which need not be there.
    ///   - moment: When the contents of the file count as changed.
    ///   - window: For how long changes are collected, from the first on; zero for not at all.
    ///   - mode: The mode that the follower is in; `.common` for all common modes.
    ///   - buffering: What is kept of changes that no task waits for.
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
