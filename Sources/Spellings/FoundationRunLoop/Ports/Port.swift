// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

#if os(Linux) && !EXPORTS_ORIGINALS
public import Foundation
internal import RunLoops

/// The superclass of ``MessagePort``, ``SocketPort`` and a program's own ports, through which messages reach the thread
/// of a run loop.
///
/// A port of this class itself, `Port()`, receives nothing. It keeps runs of its mode from ending: programs for Apple's systems
/// keep a thread alive with `RunLoop.current.add(Port(), forMode: .default)`.
///
/// A subclass must override all members that trap here.
///
/// Thread safety: as in Foundation, the class is not `Sendable`.
open class Port: NSObject, NSCopying {
    /// Posted by a port when it becomes invalid; run loops then release the port.
    public static let didBecomeInvalidNotification = Notification.Name(
        "NSPortDidBecomeInvalidNotification")

    /// The source that keeps a mode from being empty; `nil` in a subclass.
    private var keeper: RunLoops.RunLoop.Source?
    private weak var receiver: (any PortDelegate)?

    /// Makes a port that receives nothing, or the superclass's part of a subclass.
    ///
    /// On Apple's systems `Port()` makes a `MessagePort`.
    public override init() {
        super.init()
        if type(of: self) == Port.self { keeper = .sendable(label: "Port") { _ in } }
    }

    /// Returns the port itself.
    open func copy(with zone: NSZone? = nil) -> Any { self }

    /// Ends the port for good; an override must post ``didBecomeInvalidNotification``.
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

    /// Sets the object that receives messages; the port does not retain the object.
    open func setDelegate(_ anObject: (any PortDelegate)?) {
        if keeper == nil { isOverridden() }
        receiver = anObject
    }

    /// Returns the object that receives messages.
    open func delegate() -> (any PortDelegate)? {
        if keeper == nil { isOverridden() }
        return receiver
    }

    /// Called by `RunLoop.add(_:forMode:)` for each mode that the port is added to for the first time.
    open func schedule(in runLoop: RunLoop, forMode mode: RunLoop.Mode) {
        guard let keeper else { isOverridden() }
        runLoop.native.add(keeper, in: mode.native)
    }

    /// Called by `RunLoop.remove(_:forMode:)` for each mode that the port is removed from.
    open func remove(from runLoop: RunLoop, forMode mode: RunLoop.Mode) {
        guard let keeper else { isOverridden() }
        runLoop.native.remove(keeper, from: mode.native)
    }

    /// The number of bytes that a sender leaves free at the beginning of a message; always 0.
    open var reservedSpaceLength: Int { 0 }

    /// Sends a message, waiting for room until `limitDate`.
    ///
    /// - Parameters:
    ///   - limitDate: The date until which to wait for room.
    ///   - components: The parts of the message: `Data`, `NSData` and ports.
    ///   - receivePort: The port for answers.
    ///   - headerSpaceReserved: Has no effect.
    /// - Returns: Whether the message has been sent.
    @discardableResult
    open func send(
        before limitDate: Date, components: NSMutableArray?, from receivePort: Port?,
        reserved headerSpaceReserved: Int
    ) -> Bool { isOverridden() }

    /// Sends a message with a number, waiting for room until `limitDate`.
    ///
    /// This method calls ``send(before:components:from:reserved:)``, whose parameters and result are the same.
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
    /// Called when a message has arrived.
    func handle(_ message: PortMessage)
}

extension PortDelegate {
    /// Does nothing with the message.
    public func handle(_ message: PortMessage) {}
}
#endif
