// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

internal import CRunLoopsKernel
internal import RunLoops
internal import Synchronization

/// The one thread of the process that looks at all watched loops.
///
/// While a loop is in use, the thread looks at it every half of the shortest limit or when its limit passes; more often
/// while a loop hangs. When all loops have slept for several looks, the thread sleeps until the next loop wakes up and
/// wakes it.
// Unchecked: what is not atomic is guarded by the lock, or belongs to the watcher's thread.
final class HangWatcher: @unchecked Sendable {
    private static let watchers = PerProcess { HangWatcher() }

    /// The watcher of this process.
    ///
    /// A forked child inherits no threads, and makes a watcher of its own. The loops that its parent watched are not
    /// watched in the child.
    static var shared: HangWatcher { watchers.own }

    /// Whether the thread waits for a loop to wake up.
    let isParked = Atomic<Bool>(false)
    /// The number of times that the process was found to have been stopped for a while.
    let standstills = Atomic<Int>(0)
    /// The number of looks so far.
    let looks = Atomic<Int>(0)
    private let hangs = Atomic<Int>(0)

    /// The futex that the thread sleeps on; its value is the number of wake-ups so far.
    private let word = Atomic<UInt32>(0)
    /// When the thread was last woken, in nanoseconds of the monotonic clock.
    private let pokedAt = Atomic<Int64>(0)

    private let lock = Lock()
    // Guarded by the lock.
    @exclusivity(unchecked) private var loops: [WatchedLoop] = []
    @exclusivity(unchecked) private var hasThread = false

    /// Adds a loop for the thread to look at.
    func add(_ loop: WatchedLoop) {
        lock.withLock { loops.append(loop) }
        poke(at: SystemCalls.now(.monotonic))
    }

    /// Removes a loop; the thread may be about to look at the loop one last time.
    func remove(_ loop: WatchedLoop) {
        lock.withLock { loops.removeAll { $0 === loop } }
    }

    /// Returns the number of the next hang.
    func nextNumber() -> Int { hangs.wrappingAdd(1, ordering: .relaxed).newValue }

    // MARK: Waking it: any thread

    /// Wakes the thread so that it looks at once.
    func poke(at time: Int64) {
        pokedAt.store(time, ordering: .relaxed)
        // releasing: a thread that sees the number sees when and why.
        word.wrappingAdd(1, ordering: .releasing)
        withUnsafePointer(to: word) { _ = rl_futex_wake($0, 1) }
    }

    @inline(never)
    func unpark(at time: Int64) {
        // Several loops may wake up at once: one system call for all.
        if isParked.exchange(false, ordering: .relaxed) { poke(at: time) }
    }

    // MARK: The thread

    /// Starts the thread unless it runs already.
    func start() throws(RunLoop.SystemCallError) {
        lock.lock()
        defer { lock.unlock() }
        if hasThread { return }
        let code = rl_thread_start_detached(
            { _ in
                rl_become_helper("hang watch")
                HangWatcher.shared.run()
            }, nil)
        if code < 0 { throw RunLoop.SystemCallError(call: "pthread_create", code: -code) }
        hasThread = true
    }

    private func run() -> Never {
        var clock = StandstillClock()
        var wanted: Int64 = .max
        var askedAt = SystemCalls.now(.monotonic)
        var seenBefore: UInt32 = 0
        while true {
            // acquiring: pairs with poke().
            let seen = word.load(ordering: .acquiring)
            if seen != seenBefore { wanted = min(wanted, pokedAt.load(ordering: .relaxed)) }
            seenBefore = seen
            looks.wrappingAdd(1, ordering: .relaxed)
            let standstill = clock.standstill(Instants.now(), wanted: wanted, askedAt: askedAt)
            if standstill > 0 { standstills.wrappingAdd(1, ordering: .relaxed) }
            let present = lock.withLock { loops }
            for loop in present where loop.isGone { remove(loop) }
            wanted = present.map { $0.look(at: SystemCalls.now(.monotonic), standstill: standstill) }.min() ?? .max
            askedAt = SystemCalls.now(.monotonic)
            if present.allSatisfy({ $0.isIdle }) {
                // Nothing is late that nobody asked for.
                wanted = .max
                park(present, seen)
            } else {
                wait(seen, until: wanted)
            }
        }
    }

    private func wait(_ seen: UInt32, until wanted: Int64) {
        // A change before the wait, or EINTR, only causes one more look.
        withUnsafePointer(to: word) { _ = rl_futex_wait($0, seen, wanted) }
    }

    private func park(_ loops: [WatchedLoop], _ seen: UInt32) {
        isParked.store(true, ordering: .relaxed)
        // Partner of the fence in WatchedLoop.begins().
        atomicMemoryFence(ordering: .sequentiallyConsistent)
        if !loops.contains(where: { $0.isInUse }) {
            while isParked.load(ordering: .relaxed), word.load(ordering: .relaxed) == seen {
                let now = SystemCalls.now(.monotonic)
                // Not those that have gone meanwhile.
                let next = lock.withLock { self.loops }.map { $0.lookForRings(at: now) }.min() ?? .max
                wait(seen, until: next)
            }
        }
        isParked.store(false, ordering: .relaxed)
    }
}
