internal import Glibc

/// The loop of the calling thread: found by a key that every thread has, torn down by the thread's end itself.
enum ThreadLoop {
    private static let key: pthread_key_t = {
        var key = pthread_key_t()
        let result = pthread_key_create(&key) { pointer in ThreadLoop.threadEnds(pointer) }
        require(result == 0, "No thread-specific key is left for run loops (pthread_key_create: \(result)).")
        return key
    }()

    /// What is kept for a thread: its loop, and how often the thread's end has come by.
    private final class Slot {
        var loop: LoopCore
        /// The public face of the loop, which lives as long as the thread.
        var face: AnyObject
        var roundsLeft = PTHREAD_DESTRUCTOR_ITERATIONS - 1

        init(loop: LoopCore, face: AnyObject) {
            self.loop = loop
            self.face = face
        }
    }

    private static var slot: Slot? {
        guard let pointer = pthread_getspecific(key) else { return nil }
        return Unmanaged<Slot>.fromOpaque(pointer).takeUnretainedValue()
    }

    /// The loop of the calling thread, if it has one already.
    static var existing: LoopCore? { slot?.loop }
    /// Its public face.
    static var existingFace: AnyObject? { slot?.face }

    /// Makes `loop` that of the calling thread.
    static func set(_ loop: LoopCore, keeping face: AnyObject) {
        if let slot {
            slot.loop = loop
            slot.face = face
            return
        }
        let slot = Unmanaged.passRetained(Slot(loop: loop, face: face))
        let result = pthread_setspecific(key, slot.toOpaque())
        require(result == 0, "Out of memory for the run loop of a thread (pthread_setspecific: \(result)).")
    }

    /// Leaves the calling thread without a loop; the one it had is not torn down.
    static func clear() {
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
