// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

public import Foundation
internal import RunLoops

/// A way for messages to reach the thread of a run loop: the class that ``MessagePort``, ``SocketPort`` and a program's
/// own ports inherit from.
///
/// A program's own port overrides all members that trap here.
///
/// Thread safety: as in Foundation, the class is not `Sendable`.
open class Port: NSObject, NSCopying {
    /// Posted by a port when it becomes invalid; run loops release it then.
    public static let didBecomeInvalidNotification = Notification.Name("NSPortDidBecomeInvalidNotification")

    /// For subclasses alone.
    ///
    /// - Precondition: the port is of a subclass. On Apple's systems `Port()` makes a `MessagePort`; here that trap says
    ///   so.
    public override init() {
        super.init()
        require(
            type(of: self) != Port.self,
            "Port() makes no port, because a Swift initialiser cannot make an object of a subclass: use MessagePort().")
    }

    /// The port itself.
    open func copy(with zone: NSZone? = nil) -> Any { self }

    /// Ends the port for good; an override posts ``didBecomeInvalidNotification``.
    open func invalidate() { isOverridden() }

    /// Whether the port can still send and receive.
    open var isValid: Bool { isOverridden() }

    /// Sets the object that receives messages; the port does not keep it.
    open func setDelegate(_ anObject: (any PortDelegate)?) { isOverridden() }

    /// The object that receives messages.
    open func delegate() -> (any PortDelegate)? { isOverridden() }

    /// Called by `RunLoop.add(_:forMode:)` for each mode that is new for the port.
    open func schedule(in runLoop: RunLoop, forMode mode: RunLoop.Mode) { isOverridden() }

    /// Called by `RunLoop.remove(_:forMode:)` for each mode that the port leaves.
    open func remove(from runLoop: RunLoop, forMode mode: RunLoop.Mode) { isOverridden() }

    /// How many bytes a sender leaves free at the beginning of a message; always 0.
    open var reservedSpaceLength: Int { 0 }

    /// Sends a message, waiting for room until `limitDate`.
    ///
    /// - Parameters:
    ///   - limitDate: Until when to wait.
    ///   - components: What to send: `Data`, `NSData` and ports.
    ///   - receivePort: The port that answers go to.
    ///   - headerSpaceReserved: Has no meaning here.
    /// - Returns: Whether the message is on its way.
    @discardableResult
    open func send(
        before limitDate: Date, components: NSMutableArray?, from receivePort: Port?,
        reserved headerSpaceReserved: Int
    ) -> Bool { isOverridden() }

    /// Sends a message with a number, waiting for room until `limitDate`.
    ///
    /// The other parameters and the result are those of ``send(before:components:from:reserved:)``, which this calls.
    @discardableResult
    open func send(
        before limitDate: Date, msgid msgID: Int, components: NSMutableArray?, from receivePort: Port?,
        reserved headerSpaceReserved: Int
    ) -> Bool {
        send(before: limitDate, components: components, from: receivePort, reserved: headerSpaceReserved)
    }

    private func isOverridden(_ member: StaticString = #function) -> Never {
        fatalError("\(type(of: self)) is a Port that does not override \(member): a subclass of Port overrides it.")
    }
}

// As in Foundation.
@available(*, unavailable)
extension Port: @unchecked Sendable {}

/// Receives the messages of a port, on the thread of the loop that the port was added to.
public protocol PortDelegate: AnyObject {
    /// A message has arrived.
    func handle(_ message: PortMessage)
}

extension PortDelegate {
    /// Does nothing with the message.
    public func handle(_ message: PortMessage) {}
}
