// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

#if os(Linux) && !EXPORTS_ORIGINALS
public import Foundation
internal import RunLoops
internal import RunLoopsPorts
internal import Synchronization

/// A port for messages between the threads of a program.
///
/// Foundation on Linux has no such class. Data is copied; a port in a message is received as the same object.
///
/// For messages between processes use ``SocketPort``, or the message ports of `RunLoopsPorts`, which have names.
///
/// Thread safety: any thread may send. As in Foundation, the class is not `Sendable`.
open class MessagePort: Port {
    /// The number of waiting messages from which on a sender has to wait.
    private static let maxWaiting = 1024

    private let core = Core()
    private let native: RunLoops.RunLoop.MessagePort

    /// Makes a port that receives messages of this program's threads.
    public override init() {
        let core = core
        native = .sendable(
            limits: RunLoops.RunLoop.MessagePort.Limits(queue: Self.maxWaiting), label: "Foundation message port"
        ) { message in
            core.handle(message)
            return nil
        }
        super.init()
        core.port = self
    }

    deinit { native.invalidate() }

    /// Ends the port for good, and drops the waiting messages; a second call does nothing.
    open override func invalidate() {
        guard native.isValid else { return }
        native.invalidate()
        core.dropAll()
        NotificationCenter.default.post(name: Port.didBecomeInvalidNotification, object: self)
    }

    /// Whether the port can still receive.
    open override var isValid: Bool { native.isValid }

    /// Sets the object that receives messages; the port does not retain the object.
    open override func setDelegate(_ anObject: (any PortDelegate)?) { core.delegate = anObject }

    /// Returns the object that receives messages; without an object, messages are dropped.
    open override func delegate() -> (any PortDelegate)? { core.delegate }

    /// Called by `RunLoop.add(_:forMode:)`.
    ///
    /// - Precondition: The port has been in no other loop, because one thread must receive all messages to keep their
    ///   order.
    open override func schedule(in runLoop: RunLoop, forMode mode: RunLoop.Mode) {
        do {
            try runLoop.native.add(native, in: mode.native)
        } catch {
            preconditionFailure("A port without connections asks nothing of the system: \(error)")
        }
    }

    /// Called by `RunLoop.remove(_:forMode:)`.
    open override func remove(from runLoop: RunLoop, forMode mode: RunLoop.Mode) {
        runLoop.native.remove(native, from: mode.native)
    }

    /// Sends a message with the number 0 to this port.
    ///
    /// The parameters and the result are the same as in ``send(before:msgid:components:from:reserved:)``.
    @discardableResult
    open override func send(
        before limitDate: Date, components: NSMutableArray?, from receivePort: Port?,
        reserved headerSpaceReserved: Int
    ) -> Bool {
        send(before: limitDate, msgid: 0, components: components, from: receivePort, reserved: headerSpaceReserved)
    }

    /// Sends a message to this port, waiting for room until `limitDate`.
    ///
    /// - Parameters:
    ///   - limitDate: The date until which to wait for room; if it has passed, the call does not wait.
    ///   - msgID: The number of the message, of which 32 bits are sent.
    ///   - components: The parts of the message: `Data`, `NSData` and ports.
    ///   - receivePort: The port for answers.
    ///   - headerSpaceReserved: Has no effect.
    /// - Returns: Whether the message has been sent; `false` if the port is invalid, if there was no room in time, or
    ///   if one of the components is neither data nor a port.
    @discardableResult
    open override func send(
        before limitDate: Date, msgid msgID: Int, components: NSMutableArray?, from receivePort: Port?,
        reserved headerSpaceReserved: Int
    ) -> Bool {
        guard let parts = PortComponents.taken(from: components) else { return false }
        let key = core.put(Parcel(components: parts, sender: receivePort))
        let message = RunLoops.RunLoop.MessagePort.Message(
            id: Int32(truncatingIfNeeded: msgID), bytes: withUnsafeBytes(of: key) { Array($0) })
        do {
            try native.sender.send(message, within: max(.zero, Duration(until: limitDate)))
            return true
        } catch {
            core.take(key)
            return false
        }
    }
}

extension MessagePort {
    /// The contents of a message except its number.
    fileprivate struct Parcel {
        let components: [AnyObject]
        let sender: Port?
    }

    /// The state that a port shares with its senders: the contents of sent messages, which the loop's own messages
    /// refer to by a key.
    fileprivate final class Core: @unchecked Sendable {
        private let lock = NSLock()
        // Guarded by the lock.
        private var parcels: [UInt64: Parcel] = [:]
        private var lastKey: UInt64 = 0
        private weak var currentDelegate: (any PortDelegate)?
        /// Set once, before the port is used.
        weak var port: MessagePort?

        var delegate: (any PortDelegate)? {
            get { lock.withLock { currentDelegate } }
            set { lock.withLock { currentDelegate = newValue } }
        }

        func put(_ parcel: Parcel) -> UInt64 {
            lock.withLock {
                lastKey += 1
                parcels[lastKey] = parcel
                return lastKey
            }
        }

        @discardableResult
        func take(_ key: UInt64) -> Parcel? { lock.withLock { parcels.removeValue(forKey: key) } }

        func dropAll() {
            // The objects die here, with no lock held.
            let dropped = lock.withLock { [parcels] in
                self.parcels = [:]
                return parcels
            }
            withExtendedLifetime(dropped) {}
        }

        func handle(_ message: RunLoops.RunLoop.MessagePort.Message) {
            let key = message.bytes.withUnsafeBytes { $0.loadUnaligned(as: UInt64.self) }
            guard let parcel = take(key), let delegate, let port else { return }
            let received = PortMessage(
                sendPort: parcel.sender, receivePort: port, components: parcel.components)
            received.msgid = UInt32(bitPattern: message.id)
            delegate.handle(received)
        }
    }
}
#endif
