internal import RunLoops

/// What a resident thread was asked to do, and whether it was told to stop.
///
/// Shared by the thread and those who hold it: neither needs the other to be alive.
final class ThreadTasks: @unchecked Sendable {
    typealias Task = @Sendable () -> Void

    private let lock = Lock()
    // Guarded by the lock.
    @exclusivity(unchecked) private var queue: [Task] = []
    /// Those before it have been taken.
    @exclusivity(unchecked) private var first = 0
    @exclusivity(unchecked) private var isStoppingState = false
    /// Whether the loop has been asked to run tasks, and has not begun to.
    @exclusivity(unchecked) private var isCalled = false

    /// Whether nothing more is taken in.
    var isStopping: Bool { lock.withLock { isStoppingState } }

    /// Puts a task in.
    ///
    /// `nil` if it came too late; otherwise whether the loop has to be called.
    func add(_ task: @escaping Task) -> Bool? {
        lock.withLock {
            if isStoppingState { return nil }
            queue.append(task)
            defer { isCalled = true }
            return !isCalled
        }
    }

    /// Takes nothing more in.
    ///
    /// Those that wait are given back to be released by the caller, with no lock held, if they are to be dropped.
    func stop(dropping: Bool) -> ArraySlice<Task> {
        lock.withLock {
            isStoppingState = true
            guard dropping else { return [] }
            defer {
                queue = []
                first = 0
            }
            return queue[first...]
        }
    }

    /// Runs the tasks that wait now; those that are put in meanwhile wait for the next call.
    ///
    /// A task that runs the loop again has the later ones run inside it, in order.
    func runWaiting() {
        let count = lock.withLock {
            isCalled = false
            return queue.count - first
        }
        for _ in 0..<count {
            guard let task = next() else { return }
            task()
        }
    }

    /// Runs all that is left.
    func drain() {
        while let task = next() { task() }
    }

    private func next() -> Task? {
        lock.withLock {
            guard first < queue.count else { return nil }
            let task = queue[first]
            first += 1
            if first == queue.count {
                queue.removeAll(keepingCapacity: queue.count <= 1024)
                first = 0
            }
            return task
        }
    }
}
