// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

internal import RunLoops

/// The tasks of a resident thread, and whether the thread was stopped.
///
/// Shared by the thread and the objects that hold it: neither needs the other to be alive.
final class ThreadTasks: @unchecked Sendable {
    typealias Task = @Sendable () -> Void

    private let lock = Lock()
    // Guarded by the lock.
    /// One queue for each list of modes that tasks were posted in, the usual list first.
    ///
    /// The lists are few, so the queues stay.
    @exclusivity(unchecked) private var queues = [ThreadTaskQueue(modes: [.common])]
    /// The number of the next task: across queues they run in the order in which they came.
    @exclusivity(unchecked) private var number: UInt64 = 0
    @exclusivity(unchecked) private var isStoppingState = false

    /// Whether the thread takes no more tasks.
    var isStopping: Bool { lock.withLock { isStoppingState } }

    /// Adds a task, for the common modes unless modes are given.
    ///
    /// Returns `nil` if the task came too late; otherwise the queue, and whether the loop has to be called for it.
    func add(_ task: @escaping Task, in modes: [RunLoop.Mode]? = nil) -> (queue: Int, mustCall: Bool)? {
        lock.withLock {
            if isStoppingState { return nil }
            let queue = modes.map(queueIndex(for:)) ?? 0
            let mustCall = queues[queue].add(task, number)
            number += 1
            return (queue, mustCall)
        }
    }

    /// Takes no more tasks.
    ///
    /// If the waiting tasks are to be dropped, they are returned: the caller releases them with no lock held.
    func stop(dropping: Bool) -> [ThreadTaskQueue] {
        lock.withLock {
            isStoppingState = true
            guard dropping else { return [] }
            defer { for queue in queues.indices { queues[queue] = ThreadTaskQueue(modes: queues[queue].modes) } }
            return queues
        }
    }

    /// Runs the waiting tasks that may run in the mode of the present run, for which `queue` has called the loop.
    ///
    /// Tasks that are added meanwhile wait for the next call. A run inside a task, if it is called meanwhile, runs the
    /// later tasks first.
    func runWaiting(_ queue: Int, on loop: RunLoop) {
        let (first, end) = lock.withLock {
            queues[queue].isCalled = false
            return (queues.count == 1 ? [0] : nil, number)
        }
        let indices = first ?? queuesThatMayRun(on: loop)
        while let task = next(indices, before: end) { task() }
        // A run inside a task, in another mode, has taken the wake-up of what came for this one.
        if hasTasksToRun(on: loop) { loop.wakeUp() }
    }

    private func hasTasksToRun(on loop: RunLoop) -> Bool {
        if lock.withLock({ queues.allSatisfy { $0.nextNumber == nil } }) { return false }
        let indices = queuesThatMayRun(on: loop)
        return lock.withLock { indices.contains { queues[$0].nextNumber != nil } }
    }

    /// Runs all tasks that are left, whatever the modes: no run will come any more.
    func drain() {
        let all = lock.withLock { Array(queues.indices) }
        while let task = next(all, before: .max) { task() }
    }

    /// The index of the queue for these modes; makes the queue if there is none.
    ///
    /// Called with the lock held.
    private func queueIndex(for modes: [RunLoop.Mode]) -> Int {
        if let index = queues.firstIndex(where: { $0.modes == modes }) { return index }
        queues.append(ThreadTaskQueue(modes: modes))
        return queues.count - 1
    }

    private func queuesThatMayRun(on loop: RunLoop) -> [Int] {
        guard let mode = loop.currentMode else { return [] }
        let isCommon = loop.commonModes.contains(mode)
        return lock.withLock { queues.indices.filter { queues[$0].mayRun(in: mode, isCommon: isCommon) } }
    }

    /// The oldest task of these queues, if it came before the task with number `end`.
    private func next(_ indices: [Int], before end: UInt64) -> Task? {
        lock.withLock {
            var (oldest, found) = (end, -1)
            for index in indices {
                if let number = queues[index].nextNumber, number < oldest { (oldest, found) = (number, index) }
            }
            return found < 0 ? nil : queues[found].take()
        }
    }
}

/// The tasks that may run in the same modes, in the order in which they came.
struct ThreadTaskQueue {
    let modes: [RunLoop.Mode]
    /// Whether the loop has been asked to run tasks, and has not begun to.
    var isCalled = false
    private var tasks: [(number: UInt64, run: ThreadTasks.Task)] = []
    /// The tasks before this place have been taken.
    private var first = 0

    init(modes: [RunLoop.Mode]) { self.modes = modes }

    /// The number of the next task.
    var nextNumber: UInt64? { first < tasks.count ? tasks[first].number : nil }

    func mayRun(in mode: RunLoop.Mode, isCommon: Bool) -> Bool {
        modes.contains { $0 == mode || (isCommon && $0 == .common) }
    }

    /// Returns whether the loop has to be called.
    mutating func add(_ task: @escaping ThreadTasks.Task, _ number: UInt64) -> Bool {
        tasks.append((number, task))
        defer { isCalled = true }
        return !isCalled
    }

    /// Removes and returns the next task; there must be one.
    mutating func take() -> ThreadTasks.Task {
        let task = tasks[first].run
        first += 1
        if first == tasks.count {
            tasks.removeAll(keepingCapacity: tasks.count <= 1024)
            first = 0
        }
        return task
    }
}
