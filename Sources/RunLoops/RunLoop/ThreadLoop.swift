// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

internal import CLinuxKernel

#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#endif

/// The loop of the calling thread: kept under a thread-specific key, torn down when the thread ends.
package enum ThreadLoop {
    private static let key: pthread_key_t = {
        var key = pthread_key_t()
        let result = pthread_key_create(&key) { pointer in ThreadLoop.threadEnds(pointer) }
        require(result == 0, "No thread-specific key is left for run loops (pthread_key_create: \(result)).")
        return key
    }()

    /// A thread's loop, and how many rounds of the thread's end have passed.
    private final class Slot {
        var loop: RunLoop
        var roundsLeft = PTHREAD_DESTRUCTOR_ITERATIONS - 1
        /// Released with the slot, after the loop has been torn down.
        var mark: AnyObject?

        init(_ loop: RunLoop) { self.loop = loop }
    }

    private static var slot: Slot? {
        guard let pointer = pthread_getspecific(key) else { return nil }
        return Unmanaged<Slot>.fromOpaque(pointer).takeUnretainedValue()
    }

    /// The loop of the calling thread, or `nil` if it has none yet; does not make one.
    package static var existing: RunLoop? { slot?.loop }

    /// Keeps an object until the calling thread ends and its loop has been torn down: it is the last that the thread
    /// releases.
    ///
    /// The thread must have a loop. A second object takes the place of the first.
    package static func markEnd(with object: AnyObject) { slot?.mark = object }

    /// Replaces the calling thread's loop with a test's loop, which is not torn down with the thread; `nil` for none.
    ///
    /// Returns the loop that the thread had.
    package static func replace(with loop: RunLoop?) -> RunLoop? {
        let outer = existing
        if let loop { set(loop) } else { clear() }
        return outer
    }

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

    private static func clear() {
        rl_set_thread_has_clock(false)
        guard let slot else { return }
        pthread_setspecific(key, nil)
        Unmanaged.passUnretained(slot).release()
    }

    /// Destructors of other keys may use the loop, so this one goes last: it asks for another round until no round is
    /// left.
    private static func threadEnds(_ pointer: UnsafeMutableRawPointer?) {
        guard let pointer else { return }
        let slot = Unmanaged<Slot>.fromOpaque(pointer)
        pthread_setspecific(key, pointer)
        if slot.takeUnretainedValue().roundsLeft > 1 {
            slot.takeUnretainedValue().roundsLeft -= 1
            return
        }
        slot.takeUnretainedValue().loop.threadEnds()
        pthread_setspecific(key, nil)
        slot.release()
    }
}
