// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

public import RunLoops

extension RunLoop {
    /// Delivers notifications to observers now, as soon as possible, or when the loop is idle, and can coalesce
    /// notifications of the same name or sender into one.
    ///
    /// Corresponds to `NSNotificationQueue`, with observers of its own in place of a notification center.
    ///
    /// Each notification names its modes. The queue works until it is invalidated or released.
    ///
    /// Thread safety: belongs to the thread that makes it, and to its loop.
    public final class NotificationQueue {
        /// When observers are called.
        public enum Style: Hashable, Sendable {
            /// Observers are called before the post returns, or not at all: see ``NotificationQueue/post(_:_:coalescing:in:)``.
            case now
            /// Observers are called with the next blocks of the loop: in this turn or the next, before the thread sleeps.
            case asSoonAsPossible
            /// Observers are called when the thread has nothing else to do, before it sleeps.
            case whenIdle
        }

        /// Which waiting notifications a new notification replaces.
        public struct Coalescing: OptionSet, Hashable, Sendable {
            /// The bits.
            public let rawValue: Int
            /// Makes a set of the given bits.
            public init(rawValue: Int) { self.rawValue = rawValue }
            /// Notifications of the same name.
            public static let name = Coalescing(rawValue: 1)
            /// Notifications of the same sender.
            public static let sender = Coalescing(rawValue: 2)
        }

        /// Identifies an observer that is to be removed.
        public struct Token: Hashable, Sendable {
            fileprivate let number: Int
        }

        private struct Listener {
            let name: Notification.Name?
            let sender: ObjectIdentifier?
            let handler: (Notification) -> Void
        }

        private struct Waiting {
            let number: Int
            let notification: Notification
            let style: Style
            let modes: [RunLoop.Mode]
        }

        /// The order of the observer that delivers the notifications that wait for an idle moment.
        public static let idleOrder = 1_000_000

        private let loop = RunLoop.current
        private let observers = OwnedObservers()
        private var observedModes: Set<RunLoop.Mode> = []
        private var listeners: [(Token, Listener)] = []
        private var waiting: [Waiting] = []
        private var counter = 0
        /// Whether the loop has passed the observer and not yet slept.
        private var isPast = false
        private var isValid = true

        /// Makes a queue on the calling thread's loop.
        public init() {}

        /// Ends the queue permanently: waiting notifications are dropped, and later notifications reach no observer.
        ///
        /// A second call does nothing.
        public func invalidate() {
            loop.requireOwn("notification queue")
            isValid = false
            waiting = []
            listeners = []
            observers.invalidate()
        }

        // MARK: Observing

        /// Adds an observer: `handler` is called with notifications.
        ///
        /// - Parameters:
        ///   - name: Only notifications of this name; `nil` for all.
        ///   - sender: Only notifications of this sender, which must live as long as the observer; `nil` for all.
        ///   - handler: Called in the order in which observers were added. The queue keeps the closure: let the closure
        ///     hold the queue weakly.
        /// - Returns: The token with which ``remove(_:)`` removes the observer.
        @discardableResult
        public func observe(
            _ name: Notification.Name? = nil, sender: AnyObject? = nil, handler: @escaping (Notification) -> Void
        ) -> Token {
            loop.requireOwn("notification queue")
            counter += 1
            let token = Token(number: counter)
            listeners.append(
                (token, Listener(name: name, sender: sender.map { ObjectIdentifier($0) }, handler: handler)))
            return token
        }

        /// Removes an observer; the observer is not called any more.
        public func remove(_ token: Token) {
            loop.requireOwn("notification queue")
            listeners.removeAll { $0.0 == token }
        }

        // MARK: Posting

        /// Posts a notification.
        ///
        /// - Parameters:
        ///   - notification: The notification.
        ///   - style: When observers are called with it.
        ///   - coalescing: Which waiting notifications the new one replaces: with both options, the notifications that
        ///     agree in name and sender. Empty for none.
        ///   - modes: The modes in which the notification may be delivered. A waiting notification is delivered once
        ///     the loop runs in one of them; it does not keep a mode from being empty if it waits for an idle moment. A
        ///     notification that is posted now is delivered if the loop's current mode is one of them by its own name,
        ///     or if no run is in progress. Otherwise it is dropped, after it has replaced the waiting notifications:
        ///     also where the current mode is common and `modes` has ``/RunLoops/RunLoop/Mode/common``.
        ///
        /// Corresponds to `enqueue(_:postingStyle:coalesceMask:forModes:)`, which drops notifications in the same
        /// cases.
        /// - Complexity: O(n) in the waiting notifications.
        public func post(
            _ notification: Notification, _ style: Style = .now, coalescing: Coalescing = [.name, .sender],
            in modes: [RunLoop.Mode] = [.default]
        ) {
            loop.requireOwn("notification queue")
            requireModes(modes)
            guard isValid else { return }
            removeWaiting(like: notification, coalescing)
            if style == .now { return mayTellNow(in: modes) ? tell(notification) : () }
            counter += 1
            let entry = Waiting(number: counter, notification: notification, style: style, modes: modes)
            waiting.append(entry)
            switch style {
            case .now: break
            case .asSoonAsPossible:
                loop.performLocally(in: modes) { [weak self] in self?.tellWaiting(entry.number) }
            case .whenIdle:
                for mode in modes { observe(mode) }
                if isPast { loop.wakeUp() }
            }
        }

        /// Removes the waiting notifications that agree with `notification` in the properties that `coalescing` names: the
        /// name, the sender or both.
        public func removeWaiting(like notification: Notification, _ coalescing: Coalescing) {
            loop.requireOwn("notification queue")
            if coalescing.isEmpty { return }
            waiting.removeAll { entry in
                (!coalescing.contains(.name) || entry.notification.name == notification.name)
                    && (!coalescing.contains(.sender) || entry.notification.sender === notification.sender)
            }
        }

        /// How many notifications wait.
        public var waitingCount: Int { waiting.count }

        // MARK: Telling

        /// Code that runs before the first run or between two has no mode to wait for.
        private func mayTellNow(in modes: [RunLoop.Mode]) -> Bool {
            // By name, as Foundation: no loop runs in the mode `.common`.
            loop.currentMode.map { modes.contains($0) } ?? true
        }

        private func observe(_ mode: RunLoop.Mode) {
            guard observedModes.insert(mode).inserted else { return }
            observers.add(.beforeWaiting, order: Self.idleOrder, in: [mode], label: "notification queue") {
                [weak self] _ in
                self?.isIdle(mode)
            }
            observers.add(.afterWaiting, order: 0, in: [mode], label: "notification queue") { [weak self] _ in
                self?.isPast = false
            }
        }

        private func isIdle(_ mode: RunLoop.Mode) {
            // What observers post for an idle moment waits for the next idle moment, which comes at once.
            isPast = true
            let numbers = waiting.filter { $0.style == .whenIdle && $0.modes.contains(mode) }.map(\.number)
            for number in numbers { tellWaiting(number) }
        }

        /// Delivers the notification, unless it was replaced or taken back.
        private func tellWaiting(_ number: Int) {
            guard let index = waiting.firstIndex(where: { $0.number == number }) else { return }
            tell(waiting.remove(at: index).notification)
        }

        private func tell(_ notification: Notification) {
            let sender = notification.sender.map { ObjectIdentifier($0) }
            for (token, listener) in listeners
            where (listener.name == nil || listener.name == notification.name)
                && (listener.sender == nil || listener.sender == sender)
                // An observer that was called before may have removed this one.
                && listeners.contains(where: { $0.0 == token })
            {
                listener.handler(notification)
            }
        }
    }
}
