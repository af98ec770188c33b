public import RunLoops
public import RunLoopsConcurrency
public import RunLoopsEvents
public import RunLoopsPorts

// The sources of RunLoopsEvents and RunLoopsPorts as sequences.

extension RunLoop {
    /// The signals of one number that the process gets, as a sequence.
    ///
    /// As long as the sequence lasts the signal does nothing else; what was there before is restored at its end. Of signals that
    /// nobody waits for the last 64 are kept.
    ///
    /// - Parameters:
    ///   - signal: The number, such as `SIGTERM`.
    ///   - mode: The mode that the source is in; `.common` for all common modes.
    ///   - buffering: What is kept of signals that nobody waits for.
    /// - Throws: What making a `SignalSource` throws, of RunLoopsEvents.
    public func signals(
        of signal: CInt, in mode: Mode = .common,
        buffering: RunLoopEvents<SignalSource.Delivery>.Buffering = .newest(64)
    ) throws(SystemCallError) -> RunLoopEvents<SignalSource.Delivery> {
        try RunLoopEvents(buffering: buffering) { emitter throws(SystemCallError) in
            let source = try SignalSource.sendable(signal, label: "signals") { emitter.emit($1) }
            try add(source, in: mode)
            return .cancelling(source)
        }
    }

    /// What happens to files and directories, as a sequence; each element is what a `FileWatch` tells at once.
    ///
    /// Nothing is dropped: all that nobody waits for is kept.
    ///
    /// - Parameters:
    ///   - paths: What to watch.
    ///   - changes: What to be told of.
    ///   - recursive: Whether directories in directories are watched.
    ///   - mode: The mode that the watch is in; `.common` for all common modes.
    ///   - buffering: What is kept of changes that nobody waits for.
    /// - Throws: What making a `FileWatch` throws, of RunLoopsEvents.
    public func changes(
        at paths: [String], for changes: FileWatch.Changes = .standard, recursive: Bool = false,
        in mode: Mode = .common,
        buffering: RunLoopEvents<[FileWatch.Event]>.Buffering = .unbounded
    ) throws(SystemCallError) -> RunLoopEvents<[FileWatch.Event]> {
        try RunLoopEvents(buffering: buffering) { emitter throws(SystemCallError) in
            let watch = try FileWatch.sendable(paths, for: changes, recursive: recursive, label: "changes") {
                emitter.emit($1)
            }
            try add(watch, in: mode)
            return .cancelling(watch)
        }
    }

    /// A message port, and what it receives as a sequence.
    ///
    /// Answers go to the message's `replyTo`. Nothing is dropped: what nobody waits for is kept, and no longer counts in the port's
    /// own limit.
    ///
    /// - Parameters:
    ///   - limits: What the port takes before it says no.
    ///   - mode: The mode that the port is in; `.common` for all common modes.
    /// - Returns: The port, to send to and to publish, and the messages. The sequence ends with the port.
    public func messages(
        limits: MessagePort.Limits = MessagePort.Limits(), in mode: Mode = .common
    ) throws(SystemCallError) -> (port: MessagePort, messages: RunLoopEvents<Message>) {
        var made: MessagePort?
        let messages = try RunLoopEvents<Message>(buffering: .unbounded) { emitter throws(SystemCallError) in
            let port = MessagePort.sendable(limits: limits, label: "messages") { message in
                emitter.emit(message)
                return nil
            }
            try add(port, in: mode)
            made = port
            return RunLoopEvents.Stop { [weak port] in port?.invalidate() }
        }
        guard let made else { preconditionFailure("The port was made above.") }
        return (made, messages)
    }
}

extension RunLoopEvents.Stop {
    /// Cancels a source that its loop alone keeps.
    static func cancelling(_ source: EventSource) -> Self { Self { [weak source] in source?.cancel() } }
}
