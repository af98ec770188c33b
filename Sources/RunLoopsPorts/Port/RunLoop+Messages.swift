public import RunLoops
public import RunLoopsConcurrency

extension RunLoop {
    /// A message port, and what it receives as a sequence.
    ///
    /// Answers go to the message's `replyTo`. Nothing is dropped: what nobody waits for is kept, and no longer counts in the
    /// port's own limit.
    ///
    /// - Parameters:
    ///   - limits: What the port takes before it says no.
    ///   - mode: The mode that the port is in; `.common` for all common modes.
    /// - Returns: The port, to send to and to publish, and the messages. The sequence ends with the port.
    public func messages(
        limits: MessagePort.Limits = MessagePort.Limits(), in mode: Mode = .common
    ) throws(SystemCallError) -> (port: MessagePort, messages: EventSequence<MessagePort.Message>) {
        var made: MessagePort?
        let messages = try EventSequence<MessagePort.Message>(buffering: .unbounded) {
            emitter throws(SystemCallError) in
            let port = MessagePort.sendable(limits: limits, label: "messages") { message in
                emitter.emit(message)
                return nil
            }
            try add(port, in: mode)
            made = port
            return EventSequence.Stop { [weak port] in port?.invalidate() }
        }
        guard let made else { preconditionFailure("The port was made above.") }
        return (made, messages)
    }
}
