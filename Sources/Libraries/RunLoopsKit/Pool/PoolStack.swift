// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

internal import RunLoops
internal import RunLoopsLibC

/// The pools of one thread, one inside the other, and what they hold.
final class PoolStack {
    /// What is held, the oldest pool's first.
    private var objects: [AnyObject] = []
    /// Where in `objects` each pool begins.
    private var starts: [Int] = []
    /// The most objects that were ever held at once.
    private(set) var highWaterMark = 0

    var depth: Int { starts.count }
    var count: Int { objects.count }

    func open() { starts.append(objects.count) }

    func hold(_ object: AnyObject) {
        objects.append(object)
        if objects.count > highWaterMark { highWaterMark = objects.count }
    }

    /// Empties the pool at `depth` and closes those inside it.
    ///
    /// The object that came last is released first; objects that are handed over meanwhile are released as well.
    func empty(_ depth: Int) {
        guard depth <= starts.count, depth > 0 else { return }
        let start = starts[depth - 1]
        while objects.count > start {
            // The object may die at the end of this line, and hand over others or open pools.
            _ = objects.popLast()
        }
        starts.removeLast(starts.count - depth)
    }

    /// Empties the pool at `depth` and closes it too.
    func close(_ depth: Int) {
        guard depth <= starts.count else { return }
        empty(depth)
        starts.removeLast(starts.count - depth + 1)
    }

    func resetHighWaterMark() { highWaterMark = objects.count }

    // MARK: One for each thread

    private static let key: pthread_key_t = {
        var key = pthread_key_t()
        let result = pthread_key_create(&key) { pointer in
            guard let pointer else { return }
            // SAFETY: the reference kept by `current`; the key is empty by now.
            Unmanaged<PoolStack>.fromOpaque(pointer).release()
        }
        require(result == 0, "No thread-specific key is left for release pools (pthread_key_create: \(result)).")
        return key
    }()

    /// The calling thread's stack.
    static var current: PoolStack {
        if let pointer = pthread_getspecific(key) {
            return Unmanaged<PoolStack>.fromOpaque(pointer).takeUnretainedValue()
        }
        let stack = PoolStack()
        let result = pthread_setspecific(key, Unmanaged.passRetained(stack).toOpaque())
        require(result == 0, "Out of memory for the release pools of a thread (pthread_setspecific: \(result)).")
        return stack
    }
}
