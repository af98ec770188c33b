// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

internal import CRunLoopsKernel
internal import RunLoopsLibC

/// Keeps the loop of each thread under a thread-specific key, and tears the loop down when the thread ends.
enum ThreadLoop {
    private static let key: pthread_key_t = {
        var key = pthread_key_t()
        let result = pthread_key_create(&key) { pointer in ThreadLoop.threadEnds(pointer) }
        require(result == 0, "No thread-specific key is left for run loops (pthread_key_create: \(result)).")
        return key
    }()

    /// A thread's loop, and how many rounds of destructors are left at the thread's end before the loop is torn down.
    fileprivate final class Slot {
        var loop: RunLoop
        var roundsLeft: CInt
        /// An object that is released with the slot, after the loop has been torn down.
        var mark: AnyObject?

        init(_ loop: RunLoop) {
            self.loop = loop
            rl_thread_follow_end()
            // A loop that is made while the thread ends does not know how many rounds are over, and waits for none. The
            // same holds for every loop if the C library does not report the end of a thread, like musl: the thread may
            // be ending already.
            roundsLeft = ThreadLoop.isEnding || !ThreadLoop.isFollowed ? 1 : PTHREAD_DESTRUCTOR_ITERATIONS - 1
        }
    }

    /// The slot of the calling thread; `nil` in a forked child for its parent's loop, which the child never releases or
    /// tears down.
    fileprivate static var slot: Slot? {
        guard let pointer = pthread_getspecific(key) else { return nil }
        // Unmanaged: the C library keeps a word for each thread; `set` retains the slot, `clear` and the destructor release it.
        let slot = Unmanaged<Slot>.fromOpaque(pointer).takeUnretainedValue()
        return slot.loop.isInherited ? nil : slot
    }

    static var existing: RunLoop? { slot?.loop }

    /// Makes `loop` the calling thread's loop.
    static func set(_ loop: RunLoop) {
        rl_set_thread_has_clock(!(loop.kernel is EpollKernel))
        if let slot {
            slot.loop = loop
            return
        }
        let slot = Unmanaged.passRetained(Slot(loop))
        let result = pthread_setspecific(key, slot.toOpaque())
        require(result == 0, "Out of memory for the run loop of a thread (pthread_setspecific: \(result)).")
    }

    /// Called when the main loop is used.
    ///
    /// On the main thread, the loop becomes the thread's loop, so that it is torn down with the thread; if the main
    /// thread has ended, the loop is torn down at once.
    static func takeMain(_ loop: RunLoop) {
        if SystemCalls.threadID == SystemCalls.mainThreadID {
            // A test may have replaced the thread's loop since.
            if slot == nil { set(loop) }
        } else if rl_main_thread_has_ended() {
            loop.threadEnds()
            complain(of: "is used for the first time, and the main thread has ended")
        }
    }

    /// Prints that the main loop will never run, because otherwise its items would wait without any sign.
    private static func complain(of what: String) {
        SystemCalls.writeToStandardError(
            """
            RunLoops: the main loop \(what): nobody runs the loop any more. An async main gives the main thread away when it \
            waits for the first time: make RunLoop.adoptMain() of RunLoopsConcurrency its first line. A synchronous main that \
            calls dispatchMain() runs RunLoop.main instead, which serves the main queue too.

            """)
    }

    fileprivate static func clear() {
        rl_set_thread_has_clock(false)
        guard let slot else { return }
        pthread_setspecific(key, nil)
        Unmanaged.passUnretained(slot).release()
    }

    /// Whether the C library reports the end of the calling thread.
    private static var isFollowed: Bool { Int(rl_thread_end()) != RL_THREAD_UNKNOWN }

    /// Whether the calling thread is known to end.
    private static var isEnding: Bool { Int(rl_thread_end()) == RL_THREAD_ENDS }

    /// Whether the calling thread ends, and registered its destructor too late to be called at its end.
    ///
    /// Always false on the main thread, whose end the C library may not report.
    private static var askedTooLate: Bool {
        Int(rl_thread_end()) == RL_THREAD_FOLLOWED && SystemCalls.threadID != SystemCalls.mainThreadID
    }

    /// The destructor of the thread-specific key.
    ///
    /// It acts in the last round, because destructors of other keys may use the loop; until then it asks for another
    /// round.
    private static func threadEnds(_ pointer: UnsafeMutableRawPointer?) {
        guard let pointer else { return }
        let slot = Unmanaged<Slot>.fromOpaque(pointer)
        if slot.takeUnretainedValue().loop.isInherited { return }
        pthread_setspecific(key, pointer)
        let loop = slot.takeUnretainedValue().loop
        if loop.mainQueue != nil, !loop.isDead {
            if loop.hasItems { complain(of: "has timers or sources, and the main thread ends") }
            // There is no later round where libdispatch keeps the thread, in a destructor that never returns.
            loop.threadEnds()
        }
        if slot.takeUnretainedValue().roundsLeft > 1, !askedTooLate {
            slot.takeUnretainedValue().roundsLeft -= 1
            // A companion's library waits for the last round as well, and may be called before this destructor in that
            // round. One round earlier the library still works: for Core Foundation that is the last round in which a
            // cancel closure can use a string.
            if slot.takeUnretainedValue().roundsLeft == 1, loop.hasCompanions, !loop.isDead { loop.threadEnds() }
            return
        }
        if !loop.isDead { loop.threadEnds() }
        pthread_setspecific(key, nil)
        slot.release()
    }
}

extension RunLoop {
    /// The loop of the calling thread, or `nil` if it has none yet; does not make one.
    package static var existing: RunLoop? { ThreadLoop.existing }

    /// Keeps an object until the calling thread ends and its loop has been torn down: the thread releases it last.
    ///
    /// The thread must have a loop. A second object replaces the first.
    package static func keepUntilThreadEnds(_ object: AnyObject) { ThreadLoop.slot?.mark = object }

    /// Replaces the calling thread's loop with a test's loop, which is not torn down with the thread; `nil` for none.
    ///
    /// Returns the loop that the thread had.
    package static func replaceCurrent(with loop: RunLoop?) -> RunLoop? {
        let outer = existing
        if let loop { ThreadLoop.set(loop) } else { ThreadLoop.clear() }
        return outer
    }
}
