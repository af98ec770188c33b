// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

#if os(Linux) && !EXPORTS_ORIGINALS
internal import CCoreFoundationRunLoop
internal import CoreFoundation
internal import RunLoops

/// The references that loops have to a Core Foundation instance, one for each loop that has the instance's item.
///
/// As with Core Foundation, a program may release an item after adding it to a loop. This library's loop keeps its own
/// item, and does not know the Core Foundation instance. The reference of a loop is released when the item is removed from
/// the loop, when the item becomes invalid, or when the loop's thread has ended.
///
/// SAFETY: the one lock of all holds guards the fields, and those of ``LoopHolds``.
final class Holds: @unchecked Sendable {
    /// The instance; its memory is kept even after the instance has been finalized.
    private let instance: UnsafeMutableRawPointer
    /// A loop with a reference; most instances have no other.
    @exclusivity(unchecked) private var firstLoop: LoopHolds?
    @exclusivity(unchecked) private var otherLoops: [LoopHolds] = []
    @exclusivity(unchecked) private var isOver = false
    /// The call that a timer makes, for ``TimerFace/fire()``; `nil` when the timer has become invalid.
    @exclusivity(unchecked) private var call: ((CFRunLoopTimer) -> Void)?

    fileprivate static let lock = Lock()

    init(_ instance: UnsafeMutableRawPointer, _ call: ((CFRunLoopTimer) -> Void)? = nil) {
        self.instance = instance
        self.call = call
        rl_remember(instance)
    }

    deinit { rl_forget(instance) }

    /// Takes a reference for `loop`, unless it has one; returns whether the reference is new.
    ///
    /// The caller must have a reference of its own.
    func take(for loop: LoopHolds) -> Bool {
        Self.lock.lock()
        defer { Self.lock.unlock() }
        // The first loop is known to hold it, without a look into the table.
        guard !isOver, firstLoop !== loop, loop.insert(self) else { return false }
        if firstLoop == nil { firstLoop = loop } else { otherLoops.append(loop) }
        retain()
        return true
    }

    /// Releases the reference of `loop`, if there is one.
    func release(for loop: LoopHolds) {
        Self.lock.lock()
        let isHeld = loop.remove(self)
        if isHeld { forget(loop) }
        Self.lock.unlock()
        if isHeld { release() }
    }

    /// Called with the lock held when the loop's thread has ended: the loop no longer has a reference.
    fileprivate func forget(_ loop: LoopHolds) {
        if firstLoop === loop { firstLoop = otherLoops.popLast() } else { otherLoops.removeAll { $0 === loop } }
    }

    /// Called when the item has become invalid: releases all references, and takes no more.
    fileprivate func end() {
        Self.lock.lock()
        isOver = true
        // The program's closure, or the `info` of its context, is released with no lock held.
        let released = call.take()
        let loops = otherLoops + (firstLoop.map { [$0] } ?? [])
        firstLoop = nil
        otherLoops = []
        for loop in loops { _ = loop.remove(self) }
        Self.lock.unlock()
        for _ in loops { release() }
        withExtendedLifetime(released) {}
    }

    /// Has the timer make its call, unless the timer is invalid or its instance has been finalized.
    func makeCall() {
        Self.lock.lock()
        let call = call
        Self.lock.unlock()
        if let call { withInstance(CFRunLoopTimer.self, call) }
    }

    /// Calls `body` with the instance, which is kept alive meanwhile; does nothing if the instance has been finalized.
    ///
    /// A loop may call an item that has just been removed by a callout or another thread. If no other reference was
    /// left, the instance has been finalized then.
    @inline(__always)
    func withInstance<Instance: AnyObject>(_ type: Instance.Type, _ body: (Instance) -> Void) {
        guard rl_retain_if_alive(instance) else { return }
        Unmanaged<Instance>.fromOpaque(instance)._withUnsafeGuaranteedRef(body)
        release()
    }

    private func retain() { _ = Unmanaged<AnyObject>.fromOpaque(instance).retain() }
    fileprivate func release() { Unmanaged<AnyObject>.fromOpaque(instance).release() }
}

/// Ends the holds of an item when the item's closure is released: when the item has become invalid, and no call of the
/// closure is under way.
final class HoldsEnd: Sendable {
    let holds: Holds

    init(_ holds: Holds) { self.holds = holds }

    deinit { holds.end() }
}

/// The references of one loop: its own instance, and the instances of its items.
///
/// SAFETY: as for ``Holds``.
final class LoopHolds: LoopCompanion, @unchecked Sendable {
    /// The loop's own instance; `nil` after the loop's thread has ended.
    @exclusivity(unchecked) private var ownInstance: CFRunLoop?
    @exclusivity(unchecked) private var items: [ObjectIdentifier: Holds] = [:]
    @exclusivity(unchecked) private var hasThread: Bool

    init(hasThread: Bool) { self.hasThread = hasThread }

    /// The loop's own instance; `nil` before the first was made, and after the end of the loop's thread.
    var instance: CFRunLoop? { Holds.lock.withLock { ownInstance } }

    /// Keeps an instance as the loop's own, unless another thread has set one before.
    ///
    /// A loop whose thread has ended keeps neither items nor the instance.
    ///
    /// - Returns: The loop's own instance, or `made` if the loop's thread has ended.
    func keep(_ made: CFRunLoop) -> CFRunLoop {
        Holds.lock.withLock {
            if let ownInstance { return ownInstance }
            if hasThread { ownInstance = made }
            return made
        }
    }

    fileprivate func insert(_ item: Holds) -> Bool {
        items.updateValue(item, forKey: ObjectIdentifier(item)) == nil
    }

    fileprivate func remove(_ item: Holds) -> Bool { items.removeValue(forKey: ObjectIdentifier(item)) != nil }

    func threadHasEnded() {
        let (instance, left) = Holds.lock.withLock {
            defer { (ownInstance, items, hasThread) = (nil, [:], false) }
            for item in items.values { item.forget(self) }
            return (ownInstance, items)
        }
        for item in left.values { item.release() }
        withExtendedLifetime(instance) {}
    }
}
#endif
