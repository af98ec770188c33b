// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

#if os(Linux) && !EXPORTS_ORIGINALS
public import Foundation
internal import RunLoops
internal import RunLoopsPorts
internal import Synchronization

/// A port for messages between the threads of a program.
///
/// On Linux Foundation has none. Data is copied; ports that are sent are the same objects on the other side.
///
/// For messages between processes use ``SocketPort``, or the message ports of `RunLoopsPorts`, which have names.
///
/// Thread safety: any thread may send. As in Foundation, the class is not `Sendable`.
open class MessagePort: Port {
    /// How many messages may wait before a sender has to.
    private static let mostWaiting = 1024

    private let core = Core()
    private let native: RunLoops.RunLoop.MessagePort

    /// A port that waits for messages in this program.
    public override init() {
        let core = core
        native = .sendable(
            limits: RunLoops.RunLoop.MessagePort.Limits(queue: Self.mostWaiting), label: "Foundation message port"
        ) { message in
            core.handle(message)
            return nil
        }
        super.init()
        core.port = self
    }

    deinit { native.invalidate() }

    /// Ends the port for good, and drops the messages that wait; a second call does nothing.
    open override func invalidate() {
        guard native.isValid else { return }
        native.invalidate()
        core.dropAll()
        NotificationCenter.default.post(name: Port.didBecomeInvalidNotification, object: self)
    }

    /// Whether the port can still receive.
    open override var isValid: Bool { native.isValid }

    /// Sets the object that receives messages; the port does not keep it.
    open override func setDelegate(_ anObject: (any PortDelegate)?) { core.delegate = anObject }

    /// The object that receives messages; without it they are dropped.
    open override func delegate() -> (any PortDelegate)? { core.delegate }

    /// Called by `RunLoop.add(_:forMode:)`.
    ///
    /// - Precondition: the port has been in no other loop: messages stay in order because one thread receives them.
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

    /// Sends a message without a number to this port.
    ///
    /// The parameters and the result are those of ``send(before:msgid:components:from:reserved:)``.
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
    ///   - limitDate: Until when to wait for room; not at all if it has passed.
    ///   - msgID: The number of the message, of which 32 bits arrive.
    ///   - components: What to send: `Data`, `NSData` and ports.
    ///   - receivePort: The port that answers go to.
    ///   - headerSpaceReserved: Has no meaning here.
    /// - Returns: Whether the message waits for the delegate; `false` if the port is invalid, if there was no room in
    ///   time, or if one of the components is neither data nor a port.
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
    /// What a message carries besides its number.
    fileprivate struct Parcel {
        let components: [AnyObject]
        let sender: Port?
    }

    /// What a port shares with its senders: the parcels on their way, which the loop's messages name by a key.
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
