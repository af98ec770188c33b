// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

#if os(Linux) && !EXPORTS_ORIGINALS
public import Foundation

/// A message between ports.
open class PortMessage: NSObject, NSCopying {
    /// The number that says what the message is; sender and receiver agree on the meaning.
    open var msgid: UInt32 = 0
    /// The parts of the message: `Data` and ports.
    open private(set) var components: [AnyObject]?
    /// The port that receives: answers to a message that is sent go here.
    open private(set) var receivePort: Port?
    /// The port that a message is sent to; in a message that was received, the port that answers go to.
    open private(set) var sendPort: Port?

    /// A message to `sendPort`, whose answers go to `replyPort`.
    public init(sendPort: Port?, receivePort replyPort: Port?, components: [AnyObject]?) {
        self.sendPort = sendPort
        receivePort = replyPort
        self.components = components
    }

    /// Sends the message to ``sendPort``, waiting for room until `date`.
    ///
    /// - Returns: Whether the message is on its way; `false` without a port to send to.
    @discardableResult
    open func send(before date: Date) -> Bool {
        sendPort?.send(
            before: date, msgid: Int(msgid), components: NSMutableArray(array: components ?? []), from: receivePort,
            reserved: 0) ?? false
    }

    /// The message itself.
    public func copy(with zone: NSZone? = nil) -> Any { self }
}

// As in Foundation.
@available(*, unavailable)
extension PortMessage: @unchecked Sendable {}
#endif
