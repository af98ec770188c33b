internal import CLinuxKernel

/// Who wants to know of every loop that is made, to record it from its beginning; in general nobody.
package final class NewLoops: @unchecked Sendable {
    package static let shared = NewLoops()

    private let lock = Lock()
    // Guarded by the lock.
    @exclusivity(unchecked) private var listener: (@Sendable (LoopCore) -> Void)?

    /// Has `listener` told of each loop, whose face is set, on the thread that makes it and before anybody else knows the loop.
    ///
    /// Only while somebody records (``setRecorded(_:)``).
    package func setListener(_ new: (@Sendable (LoopCore) -> Void)?) {
        lock.withLock { listener = new }
    }

    /// Has signals, posts and wake-ups leave word of when and by whom, as long as one asks for it.
    package static func setRecorded(_ isRecorded: Bool) { rl_count_recorders(isRecorded ? 1 : -1) }

    func tell(of loop: LoopCore) {
        let listener = lock.withLock { self.listener }
        listener?(loop)
    }
}
