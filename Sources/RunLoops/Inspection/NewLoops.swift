internal import CLinuxKernel

/// The listeners that hear of every loop when it is made; usually none.
package final class NewLoops: Sendable {
    package static let shared = NewLoops()

    package typealias Listener = @Sendable (RunLoop) -> Void

    private let listeners = Guarded<[(owner: ObjectIdentifier, listener: Listener)]>([])

    /// Has `listener` told of each loop on the thread that makes it and before anybody else knows the loop.
    ///
    /// Until `owner` is removed.
    package func add(_ owner: AnyObject, _ listener: @escaping Listener) {
        listeners.withLock { $0.append((ObjectIdentifier(owner), listener)) }
    }

    package func remove(_ owner: AnyObject) {
        listeners.withLock { $0.removeAll { $0.owner == ObjectIdentifier(owner) } }
    }

    /// Has signals, posts and wake-ups leave word of when and by whom, as long as one asks for it.
    package static func setRecorded(_ isRecorded: Bool) { rl_count_recorders(isRecorded ? 1 : -1) }

    func tell(of loop: RunLoop) {
        for (_, listener) in listeners.withLock({ $0 }) { listener(loop) }
    }
}
