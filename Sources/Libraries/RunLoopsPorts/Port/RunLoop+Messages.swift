// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

public import RunLoops
public import RunLoopsConcurrency

extension RunLoop {
    /// Makes a message port, and a sequence of the messages that it receives.
    ///
    /// Answers go to the message's `replyTo`. No message is dropped: messages that no task waits for are kept, and no
    /// longer count towards the port's own limit.
    ///
    /// - Parameters:
    ///   - limits: The limits of the port.
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
