// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

#if os(Linux) && !EXPORTS_ORIGINALS
internal import CCoreFoundationRunLoop
internal import CoreFoundation
internal import RunLoops

/// The references that loops have to a Core Foundation instance, one for each loop that has the instance's item.
///
/// As with Core Foundation, a program may release what it has added to a loop. A loop of this library keeps the item, and
/// does not know the instance. A reference goes when the item is taken out of the loop, when the item becomes invalid, and
/// when the loop's thread has ended.
///
/// SAFETY: the one lock of all holds guards the fields, and those of ``LoopHolds``.
final class Holds: @unchecked Sendable {
    /// Remembered: its memory stays, even after the instance's end.
    private let instance: UnsafeMutableRawPointer
    /// Usually there is one.
    @exclusivity(unchecked) private var firstLoop: LoopHolds?
    @exclusivity(unchecked) private var otherLoops: [LoopHolds] = []
    @exclusivity(unchecked) private var isOver = false

    fileprivate static let lock = Lock()

    init(_ instance: UnsafeMutableRawPointer) {
        self.instance = instance
        rl_remember(instance)
    }

    deinit { rl_forget(instance) }

    /// Makes sure that `loop` has a reference; returns whether it is new.
    ///
    /// The caller has a reference too.
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

    /// The loop is gone, and no longer knows of the hold; with the lock held.
    fileprivate func forget(_ loop: LoopHolds) {
        if firstLoop === loop { firstLoop = otherLoops.popLast() } else { otherLoops.removeAll { $0 === loop } }
    }

    /// The item is invalid: releases all references, and takes none from now on.
    fileprivate func end() {
        Self.lock.lock()
        isOver = true
        let loops = otherLoops + (firstLoop.map { [$0] } ?? [])
        firstLoop = nil
        otherLoops = []
        for loop in loops { _ = loop.remove(self) }
        Self.lock.unlock()
        for _ in loops { release() }
    }

    /// Calls `body` with the instance, which stays alive meanwhile.
    ///
    /// A loop may call an item that a callout, or another thread, has just taken out of the loop. Without any other
    /// reference the instance is gone then, and nothing is called.
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

/// What one loop holds: its own instance, and those of its items.
///
/// SAFETY: as for ``Holds``.
final class LoopHolds: LoopCompanion, @unchecked Sendable {
    /// Until the loop's thread has ended.
    @exclusivity(unchecked) private var ownInstance: CFRunLoop?
    @exclusivity(unchecked) private var items: [ObjectIdentifier: Holds] = [:]
    @exclusivity(unchecked) private var hasThread: Bool

    init(hasThread: Bool) { self.hasThread = hasThread }

    /// The loop's own instance; `nil` before the first was made, and after the end of the loop's thread.
    var instance: CFRunLoop? { Holds.lock.withLock { ownInstance } }

    /// Keeps an instance as the loop's own, unless another thread's was first.
    ///
    /// A loop whose thread has ended keeps nothing: neither items nor the instance.
    ///
    /// - Returns: The instance that counts.
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
