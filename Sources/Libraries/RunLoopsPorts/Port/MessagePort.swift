// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

public import RunLoops
internal import RunLoopsConcurrency
internal import Synchronization

extension RunLoop {
    /// Receives messages on the thread of a run loop.
    ///
    /// A port is added to modes of one loop with ``RunLoops/RunLoop/add(_:in:)``. Messages are sent with its
    /// ``sender``, from any thread, and, once the port is published under a name, from other processes. The closure is
    /// called with the messages in the order in which they were sent, and returns a reply or `nil`; the reply goes to
    /// the message's ``MessagePort/Message/replyTo``.
    ///
    /// In one turn the port delivers up to ``MessagePort/Limits/batch`` messages, then the loop's other items have
    /// their turn. One message a turn would cost a whole turn for each message. A batch without a bound would keep the
    /// other items waiting for as long as senders are fast. A batch ends early when the port is invalidated or the run
    /// is stopped.
    ///
    /// While the port is in a mode, the loop keeps it alive. The port ends with ``invalidate()``, with the thread of
    /// its loop, or when it is released while it is in no mode: then senders get ``PortError/dead``.
    ///
    /// Corresponds to a local `CFMessagePort` with its run loop source, or to a Mach port's receive right.
    ///
    /// Thread safety: all members may be used by any thread. The closure runs on the loop's thread with no lock held.
    public final class MessagePort: @unchecked Sendable {
        let limits: Limits
        let label: ItemLabel
        let queue: MessageQueue
        /// The one thread whose loop may take the port; 0 for any.
        let allowedThread: Int32
        let generation = ForkGeneration()

        let lock = Lock()
        // Guarded by the lock.
        @exclusivity(unchecked) var handler: ((Delivery) -> MessagePort.Message?)?
        @exclusivity(unchecked) var loop: RunLoop?
        @exclusivity(unchecked) var modes: [RunLoop.Mode] = []
        @exclusivity(unchecked) var publications: [Publication] = []
        @exclusivity(unchecked) var peers: [ObjectIdentifier: Peer] = [:]
        /// The connections that have made room for others, and whose earlier messages are still to be received.
        @exclusivity(unchecked) var retired: [ObjectIdentifier: Peer] = [:]
        /// Connections that may not send yet, in the order in which they came.
        @exclusivity(unchecked) var ungreeted: [Peer] = []
        @exclusivity(unchecked) private var valid = true
        /// How many calls are taking the port out of a mode.
        @exclusivity(unchecked) private var leaving = 0
        /// Keeps the port while it is in a mode; the loop holds the source, and the source does not hold the port.
        @exclusivity(unchecked) private var keeper: MessagePort?

        /// Used on the loop's thread alone.
        @exclusivity(unchecked) private var batch = Ring<Delivery>()

        /// Called with the handle of a channel whose other side has gone, and with 0 when the port itself ends; set
        /// before the port is used.
        @exclusivity(unchecked) var channelEnded: ((UInt64) -> Void)?
        /// Returns whether an answer may come by the channel with this handle; `nil` for a port that cannot tell.
        ///
        /// Set before the port is used, and called by any thread.
        @exclusivity(unchecked) var awaitsAnswer: (@Sendable (UInt64) -> Bool)?

        init(
            _ limits: Limits, _ label: ItemLabel, allowedThread: Int32,
            _ handler: @escaping (Delivery) -> MessagePort.Message?
        ) {
            self.limits = limits
            self.label = label
            self.allowedThread = allowedThread
            self.handler = handler
            let reference = WeakReference()
            let source = RunLoop.Source.sendable(
                label: label.text,
                cancel: { _, _ in reference.port?.wasCancelled() },
                handler: { _ in reference.port?.perform() })
            queue = MessageQueue(limits, source)
            reference.port = self
            queue.attach(self)
        }

        deinit { invalidate() }

        /// The sender of the port.
        public var sender: MessagePort.Sender { MessagePort.Sender(queue) }

        /// Whether the closure runs with at least the priority of the thread that has sent the message; `false` at first.
        ///
        /// The loop's thread gets the sender's real-time class or nice value for the closure, if that is better than
        /// its own, and its own afterwards. What the system refuses stays as it is: a better nice value needs
        /// `RLIMIT_NICE`, a real-time class `RLIMIT_RTPRIO`, or the privilege `CAP_SYS_NICE`.
        ///
        /// A message of this process carries the scheduling that its thread has when it sends the message. A message of
        /// another process names its thread, and this process looks at the scheduling of that thread when it receives
        /// the message: no process can give a priority that none of its own threads has. A message carries nothing if
        /// its process or thread has ended by then, if the process belongs to another user or lives in another PID
        /// namespace, or before Linux 6.5.
        ///
        /// Corresponds to the voucher of a Mach message. Thread safety: any thread; counts for messages that are sent
        /// afterwards.
        ///
        /// - Complexity: a system call for each message that is sent and for each callout, and two more where the
        ///   priority changes. For a message of another process, a descriptor of that process and six system
        ///   calls, which took 8 us here; nothing where the value is `false`. To set the value takes two system calls
        ///   for each connection.
        public var carriesPriority: Bool {
            get { queue.carriesPriority.load(ordering: .relaxed) }
            set {
                queue.carriesPriority.store(newValue, ordering: .relaxed)
                let connections = lock.withLock { Array(peers.values) + retired.values }
                for peer in connections { peer.identifySenders(newValue) }
            }
        }

        /// Whether the port can still receive; an invalid port never becomes valid again.
        ///
        /// A forked child finds its parent's ports invalid.
        public var isValid: Bool { !generation.isInherited && lock.withLock { valid } }

        /// Removes the port from its loop permanently.
        ///
        /// Names are withdrawn, connections and descriptors closed, and waiting messages dropped; senders get errors.
        ///
        /// Legal everywhere, also in the port's own closure, which ends normally. A second call does nothing.
        /// Corresponds to `CFMessagePortInvalidate`.
        public func invalidate() {
            lock.lock()
            guard valid else {
                lock.unlock()
                return
            }
            valid = false
            let connections = Array(peers.values) + retired.values
            let released = (handler, loop, keeper, publications, connections, channelEnded)
            (handler, loop, keeper, publications, channelEnded) = (nil, nil, nil, [], nil)
            (peers, retired, ungreeted) = ([:], [:], [])
            modes = []
            lock.unlock()
            queue.source.invalidate()
            for publication in released.3 { publication.withdraw() }
            for peer in connections { peer.close() }
            // Undelivered messages go with their descriptors, and askers that wait for an answer get an error.
            _ = queue.close()
            released.5?(0)
            withExtendedLifetime(released) {}
        }

        // MARK: In the loop

        /// Adds the port to `loop`; returns `nil` if the port is invalid, otherwise its sockets, and whether the port was in no
        /// loop before.
        func join(_ loop: RunLoop, _ mode: RunLoop.Mode) -> (sockets: [RunLoop.DescriptorSource], isFirst: Bool)? {
            requireAllowedThread(allowedThread, of: self, in: loop.threadID)
            return lock.withLock {
                guard valid, !generation.isInherited else { return nil }
                // Not the description, which takes the lock.
                require(
                    self.loop == nil || self.loop === loop,
                    "<MessagePort \(label.text)> cannot be added to a second loop: a port belongs to the first loop it was added to, so that its messages stay in order. Make a port for each loop."
                )
                let isFirst = self.loop == nil
                self.loop = loop
                if !modes.contains(mode) { modes.append(mode) }
                keeper = self
                return (socketSources, isFirst)
            }
        }

        /// The loop could not take the port: another loop may.
        func leaveLoop() {
            lock.withLock { if modes.isEmpty { loop = nil } }
        }

        func leave(_ mode: RunLoop.Mode) -> [RunLoop.DescriptorSource] {
            let (sources, released) = lock.withLock { () -> ([RunLoop.DescriptorSource], MessagePort?) in
                leaving += 1
                modes.removeAll { $0 == mode }
                guard modes.isEmpty else { return (socketSources, nil) }
                let released = keeper
                keeper = nil
                return (socketSources, released)
            }
            withExtendedLifetime(released) {}
            return sources
        }

        /// Called with the lock held.
        private var socketSources: [RunLoop.DescriptorSource] {
            publications.compactMap(\.source) + (Array(peers.values) + retired.values).flatMap(\.sources)
        }

        /// The port has been taken out of a mode.
        func hasLeft() { lock.withLock { leaving -= 1 } }

        /// The source was taken out of a mode.
        ///
        /// If the port itself did not do this, the thread has ended, and nobody will ever receive again.
        private func wasCancelled() {
            if lock.withLock({ valid && leaving == 0 }) { invalidate() }
        }

        /// Delivers a batch.
        ///
        /// On the loop's thread.
        private func perform() {
            var isMore = false
            if batch.isEmpty { isMore = queue.take(limits.batch, into: &batch) }
            // Before the first closure: a run that the closure begins is to go on with the rest.
            if isMore || batch.count > 1 { queue.source.signal() }
            var left = limits.batch
            while left > 0, let delivery = batch.popFirst() {
                left -= 1
                guard deliver(delivery) else { break }
            }
            if isMore || !batch.isEmpty { signalMore() }
        }

        private func signalMore() {
            queue.source.signal()
            lock.withLock { loop }?.wakeUp()
        }

        /// Calls the closure; returns false if the batch ends here.
        func deliver(_ delivery: Delivery) -> Bool {
            lock.lock()
            guard let handler else {
                lock.unlock()
                return false
            }
            lock.unlock()
            let reply =
                if let scheduling = delivery.scheduling {
                    scheduling.atLeast { handler(delivery) }
                } else {
                    handler(delivery)
                }
            if let reply, let replyTo = delivery.message.replyTo {
                // An asker that is gone has no use for the reply. A reply that is too large is dropped, and the asker
                // gets an error when the right to answer is released.
                _ = try? replyTo.answer(reply)
            }
            return lock.withLock { valid && !modes.isEmpty && loop?.isStopped != true }
        }
    }
}

/// What the source of a port knows of the port.
private final class WeakReference: @unchecked Sendable {
    // Set once, before the source is shared.
    weak var port: RunLoop.MessagePort?
}

extension RunLoop.MessagePort: CustomStringConvertible {
    /// Kind, label and state in one line.
    public var description: String {
        "<MessagePort \(label.text)>{\(isValid ? "valid" : "invalid")}"
    }
}
