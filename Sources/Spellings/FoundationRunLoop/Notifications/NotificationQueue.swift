// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

#if os(Linux) && !EXPORTS_ORIGINALS
public import Foundation
internal import RunLoops
internal import RunLoopsKit

/// Posts notifications to a notification center at once, as soon as possible, or when the loop is idle, and can combine
/// several equal notifications into one.
///
/// Foundation's own queue posts only while Foundation's loop runs.
///
/// Notifications are posted in the order in which they were enqueued. A queue is kept alive while it has waiting
/// notifications.
///
/// Thread safety: belongs to the thread that makes it, and to the loop of that thread; a call on any other thread
/// traps.
open class NotificationQueue: NSObject {
    /// The time at which a notification is posted.
    public enum PostingStyle: UInt, Sendable {
        /// When the loop has nothing else to do, before it sleeps.
        case whenIdle = 1
        /// At the end of the current callout, together with the next closures of the loop, and before the loop sleeps.
        case asap = 2
        /// Before `enqueue` returns.
        case now = 3
    }

    /// The properties in which a waiting notification must equal a new one to be replaced by it.
    public struct NotificationCoalescing: OptionSet, Sendable {
        /// The bits.
        public let rawValue: UInt
        /// Makes the set of these bits.
        public init(rawValue: UInt) { self.rawValue = rawValue }

        /// No property: a new notification replaces no waiting one.
        public static var none: NotificationCoalescing { [] }
        /// The name of the notification.
        public static var onName: NotificationCoalescing { NotificationCoalescing(rawValue: 1) }
        /// The sender of the notification, which is its object.
        public static var onSender: NotificationCoalescing { NotificationCoalescing(rawValue: 2) }
    }

    private struct Waiting {
        let number: Int
        let notification: Notification
        let style: PostingStyle
        let modes: [RunLoop.Mode]
    }

    /// Keeps the queue alive while notifications wait.
    ///
    /// The loop keeps this object, and the queue does not, so that both are released when the thread ends.
    private final class Keeper { var queue: NotificationQueue? }

    /// An observer of the loop, which keeps the observer alive; the observer keeps the keeper, which keeps the queue.
    private struct LoopsObserver { weak var observer: RunLoops.RunLoop.Observer? }

    /// The order of the observer that posts when the loop is idle: after observers that commit changes, before those
    /// that drain pools.
    private static let idleOrder = 1_000_000

    private let center: NotificationCenter
    private let loop = RunLoops.RunLoop.current
    private weak var keeper: Keeper?
    private var waiting: [Waiting] = []
    private var lastNumber = 0
    private var observers: [RunLoop.Mode: LoopsObserver] = [:]
    /// Whether the loop has called the observer and has not slept since.
    private var isPast = false

    // MARK: Making

    /// The calling thread's queue for the default notification center; the same object at each access.
    open class var `default`: NotificationQueue {
        RunLoops.RunLoop.current.foundation.notificationQueue {
            NotificationQueue(notificationCenter: .default)
        }
    }

    /// Makes a queue of the calling thread that posts to `notificationCenter`.
    public init(notificationCenter: NotificationCenter) { center = notificationCenter }

    deinit { for entry in observers.values { entry.observer?.invalidate() } }

    // MARK: Enqueuing

    /// Enqueues a notification for the default mode, in place of all waiting notifications with the same name and
    /// sender.
    open func enqueue(_ notification: Notification, postingStyle: PostingStyle) {
        enqueue(notification, postingStyle: postingStyle, coalesceMask: [.onName, .onSender], forModes: nil)
    }

    /// Enqueues a notification.
    ///
    /// - Parameters:
    ///   - notification: The notification to post.
    ///   - postingStyle: The time at which it is posted.
    ///   - coalesceMask: The properties in which waiting notifications must equal the new one to be replaced by it.
    ///   - modes: The modes in which it may be posted; the default mode if `nil`. A waiting notification is posted when
    ///     the loop runs in one of them. With ``PostingStyle/now`` the notification is posted if the loop does not run,
    ///     and dropped if the loop runs in a mode that is not in `modes` by its own name, as in Foundation.
    /// - Precondition: called on the queue's own thread.
    /// - Complexity: O(n) in the notifications that wait.
    open func enqueue(
        _ notification: Notification, postingStyle: PostingStyle, coalesceMask: NotificationCoalescing,
        forModes modes: [RunLoop.Mode]?
    ) {
        requireOwnThread()
        dequeueNotifications(matching: notification, coalesceMask: coalesceMask)
        let modes = modes ?? [.default]
        if postingStyle == .now {
            if loop.currentMode.map({ modes.contains(RunLoop.Mode($0)) }) ?? true { center.post(notification) }
            return
        }
        if modes.isEmpty { return }
        lastNumber += 1
        let number = lastNumber
        waiting.append(Waiting(number: number, notification: notification, style: postingStyle, modes: modes))
        let keeper = keep()
        if postingStyle == .asap {
            loop.performLocally(in: modes.map(\.native)) { keeper.queue?.post(number) }
        } else {
            for mode in modes { observe(mode, keeper) }
            // What is enqueued at the last moment before the sleep needs another turn.
            if isPast { loop.wakeUp() }
        }
    }

    /// Removes the waiting notifications that equal `notification` in all properties of `coalesceMask`.
    ///
    /// - Precondition: called on the queue's own thread.
    /// - Complexity: O(n) in the notifications that wait.
    open func dequeueNotifications(matching notification: Notification, coalesceMask: NotificationCoalescing) {
        requireOwnThread()
        if coalesceMask.isDisjoint(with: [.onName, .onSender]) { return }
        waiting.removeAll { entry in
            (!coalesceMask.contains(.onName) || entry.notification.name == notification.name)
                && (!coalesceMask.contains(.onSender)
                    || Self.isSame(entry.notification.object, notification.object))
        }
        releaseIfEmpty()
    }

    private static func isSame(_ left: Any?, _ right: Any?) -> Bool {
        switch (left, right) {
        case (nil, nil): true
        case (let left?, let right?): isSame(left, right)
        default: false
        }
    }

    /// Compares objects by identity, as Foundation does, and values by equality.
    private static func isSame(_ left: Any, _ right: Any) -> Bool {
        if type(of: left) is AnyClass, type(of: right) is AnyClass {
            return left as AnyObject === right as AnyObject
        }
        guard let left = left as? any Hashable, let right = right as? any Hashable else { return false }
        return AnyHashable(left) == AnyHashable(right)
    }

    // MARK: Posting

    private func post(_ number: Int) {
        guard let index = waiting.firstIndex(where: { $0.number == number }) else { return }
        let notification = waiting.remove(at: index).notification
        releaseIfEmpty()
        center.post(notification)
    }

    private func observe(_ mode: RunLoop.Mode, _ keeper: Keeper) {
        if observers[mode] != nil { return }
        let observer = RunLoops.RunLoop.Observer(
            [.beforeWaiting, .afterWaiting], order: Self.idleOrder, label: "notification queue"
        ) { [weak self] _, activity in
            self?.isPast = activity == .beforeWaiting
            if activity == .beforeWaiting { keeper.queue?.postIdle() }
        }
        loop.add(observer, in: mode.native)
        observers[mode] = LoopsObserver(observer: observer)
    }

    private func postIdle() {
        guard let mode = loop.currentMode.map({ RunLoop.Mode($0) }) else { return }
        let isCommon = loop.commonModes.contains(mode.native)
        let numbers = waiting.filter {
            $0.style == .whenIdle && ($0.modes.contains(mode) || isCommon && $0.modes.contains(.common))
        }.map(\.number)
        // What its observers enqueue for an idle moment waits for the next one, which comes at once.
        for number in numbers { post(number) }
    }

    // MARK: Staying alive

    private func keep() -> Keeper {
        let keeper = keeper ?? Keeper()
        self.keeper = keeper
        keeper.queue = self
        return keeper
    }

    private func releaseIfEmpty() {
        if waiting.isEmpty { keeper?.queue = nil }
    }

    private func requireOwnThread() {
        require(
            loop.isOfCallingThread,
            "A NotificationQueue was used on another thread than the one that made it: use NotificationQueue.default there, or perform on the loop of the queue's thread."
        )
    }
}

// As in Foundation.
@available(*, unavailable)
extension NotificationQueue: @unchecked Sendable {}
#endif
