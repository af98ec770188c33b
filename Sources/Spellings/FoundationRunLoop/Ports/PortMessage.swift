// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

#if os(Linux) && !EXPORTS_ORIGINALS
public import Foundation

/// A message between ports.
open class PortMessage: NSObject, NSCopying {
    /// The number of the message, whose meaning sender and receiver agree on.
    open var msgid: UInt32 = 0
    /// The parts of the message: `Data` and ports.
    open private(set) var components: [AnyObject]?
    /// In a message to send, the port for answers; in a received message, the port that received it.
    open private(set) var receivePort: Port?
    /// In a message to send, the port that receives it; in a received message, the port for answers.
    open private(set) var sendPort: Port?

    /// Makes a message to `sendPort`, with `replyPort` for answers.
    public init(sendPort: Port?, receivePort replyPort: Port?, components: [AnyObject]?) {
        self.sendPort = sendPort
        receivePort = replyPort
        self.components = components
    }

    /// Sends the message to ``sendPort``, and waits for room until `date`.
    ///
    /// - Returns: Whether the message has been sent; `false` if ``sendPort`` is `nil`.
    @discardableResult
    open func send(before date: Date) -> Bool {
        sendPort?.send(
            before: date, msgid: Int(msgid), components: NSMutableArray(array: components ?? []), from: receivePort,
            reserved: 0) ?? false
    }

    /// Returns the message itself.
    public func copy(with zone: NSZone? = nil) -> Any { self }
}

// As in Foundation.
@available(*, unavailable)
extension PortMessage: @unchecked Sendable {}
#endif
