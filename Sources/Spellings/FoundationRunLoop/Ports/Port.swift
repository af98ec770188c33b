// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

#if os(Linux) && !EXPORTS_ORIGINALS
public import Foundation
internal import RunLoops

/// A way for messages to reach the thread of a run loop: the class that ``MessagePort``, ``SocketPort`` and a program's
/// own ports inherit from.
///
/// A port of this class itself, `Port()`, receives nothing. In a mode of a loop it keeps the runs of that mode from ending, as in
/// `RunLoop.current.add(Port(), forMode: .default)`, by which programs for Apple's systems keep a thread alive.
///
/// A program's own port overrides all members that trap here.
///
/// Thread safety: as in Foundation, the class is not `Sendable`.
open class Port: NSObject, NSCopying {
    /// Posted by a port when it becomes invalid; run loops release it then.
    public static let didBecomeInvalidNotification = Notification.Name(
        "NSPortDidBecomeInvalidNotification")

    /// What keeps a mode from being empty; `nil` in a subclass.
    private var keeper: RunLoops.RunLoop.Source?
    private weak var receiver: (any PortDelegate)?

    /// For subclasses alone.
    ///
    /// - Precondition: the port is of a subclass. On Apple's systems `Port()` makes a `MessagePort`; here that trap says
    ///   so.
    public override init() {
        super.init()
        if type(of: self) == Port.self { keeper = .sendable(label: "Port") { _ in } }
    }

    /// The port itself.
    open func copy(with zone: NSZone? = nil) -> Any { self }

    /// Ends the port for good; an override posts ``didBecomeInvalidNotification``.
    open func invalidate() {
        guard let keeper else { isOverridden() }
        if !keeper.isValid { return }
        keeper.invalidate()
        NotificationCenter.default.post(name: Self.didBecomeInvalidNotification, object: self)
    }

    /// Whether the port can still send and receive.
    open var isValid: Bool {
        guard let keeper else { isOverridden() }
        return keeper.isValid
    }

    /// Sets the object that receives messages; the port does not keep it.
    open func setDelegate(_ anObject: (any PortDelegate)?) {
        if keeper == nil { isOverridden() }
        receiver = anObject
    }

    /// The object that receives messages.
    open func delegate() -> (any PortDelegate)? {
        if keeper == nil { isOverridden() }
        return receiver
    }

    /// Called by `RunLoop.add(_:forMode:)` for each mode that is new for the port.
    open func schedule(in runLoop: RunLoop, forMode mode: RunLoop.Mode) {
        guard let keeper else { isOverridden() }
        runLoop.native.add(keeper, in: mode.native)
    }

    /// Called by `RunLoop.remove(_:forMode:)` for each mode that the port leaves.
    open func remove(from runLoop: RunLoop, forMode mode: RunLoop.Mode) {
        guard let keeper else { isOverridden() }
        runLoop.native.remove(keeper, from: mode.native)
    }

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
        if keeper != nil {
            fatalError(
                "Port() keeps a mode from being empty, and neither sends nor receives: use MessagePort().")
        }
        fatalError(
            "\(type(of: self)) is a Port that does not override \(member): a subclass of Port overrides it."
        )
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
#endif
