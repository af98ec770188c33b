internal import CLinuxKernel

#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#endif

/// The loop of the calling thread: found by a key that every thread has, torn down by the thread's end itself.
package enum ThreadLoop {
    private static let key: pthread_key_t = {
        var key = pthread_key_t()
        let result = pthread_key_create(&key) { pointer in ThreadLoop.threadEnds(pointer) }
        require(result == 0, "No thread-specific key is left for run loops (pthread_key_create: \(result)).")
        return key
    }()

    /// What is kept for a thread: its loop, and how often the thread's end has come by.
    private final class Slot {
        var loop: RunLoop
        var roundsLeft = PTHREAD_DESTRUCTOR_ITERATIONS - 1

        init(_ loop: RunLoop) { self.loop = loop }
    }

    private static var slot: Slot? {
        guard let pointer = pthread_getspecific(key) else { return nil }
        return Unmanaged<Slot>.fromOpaque(pointer).takeUnretainedValue()
    }

    /// The loop of the calling thread, if it has one already: asking does not make it.
    package static var existing: RunLoop? { slot?.loop }

    /// Puts a loop of a test's own in the place of the calling thread's, which is not torn down; `nil` for none.
    ///
    /// Returns the one it had.
    package static func replace(with loop: RunLoop?) -> RunLoop? {
        let outer = existing
        if let loop { set(loop) } else { clear() }
        return outer
    }

    /// Makes `loop` that of the calling thread.
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

    /// Destructors of other keys may use the loop, so ours goes last: it comes back until the rounds are used up.
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
