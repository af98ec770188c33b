// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

internal import RunLoops
internal import RunLoopsConcurrency

/// Passes what a reader has read on its loop's thread to the tasks that go through the sequence.
///
/// The sequence and its iterators keep the intake, and the loop keeps the reader. The reader pauses after each batch, and a
/// task that finds nothing makes it go on. Elements that were read ahead stay here, so that a second iterator continues where
/// the first has stopped.
final class Intake<Element: Sendable>: Sendable {
    typealias Next = Result<[Element], RunLoop.InputError>

    /// One call of ``next(atMost:isolation:)``.
    ///
    /// SAFETY: the lock of the state guards the fields.
    private final class Waiter: @unchecked Sendable {
        let maxCount: Int
        /// `nil` before the call waits, and after it was resumed.
        @exclusivity(unchecked) var continuation: CheckedContinuation<Next, Never>?
        @exclusivity(unchecked) var isCancelled = false

        init(maxCount: Int) { self.maxCount = maxCount }
    }

    private struct State {
        /// Elements that were read, of which no task has those from `place` on.
        var batch: [Element] = []
        var place = 0
        /// How the input has ended: with an error or with an empty batch.
        var end: Next?
        /// The tasks that wait, in the order in which they asked.
        var waiting: [Waiter] = []

        mutating func takeOne() -> Element? {
            if place == batch.count { return nil }
            defer { advance(by: 1) }
            return batch[place]
        }

        mutating func take(atMost maxCount: Int) -> Next? {
            let count = min(maxCount, batch.count - place)
            if count == 0 { return end }
            defer { advance(by: count) }
            return .success(count == batch.count ? batch : Array(batch[place..<place + count]))
        }

        private mutating func advance(by count: Int) {
            place += count
            if place == batch.count { (batch, place) = ([], 0) }
        }
    }

    /// Shared with the reader's closure, which does not keep the intake.
    private final class Shared: Sendable {
        let state = Guarded(State())

        /// Changes the state, and hands what is there to the tasks that wait.
        ///
        /// - Returns: Whether a task still waits.
        @discardableResult
        func change(_ body: (inout State) -> Void) -> Bool {
            var resumed: [(CheckedContinuation<Next, Never>?, Next)] = []
            let isWaitedFor = state.withLock { state in
                body(&state)
                while let first = state.waiting.first, let next = state.take(atMost: first.maxCount) {
                    let continuation = state.waiting.removeFirst().continuation.take()
                    resumed.append((continuation, next))
                }
                return !state.waiting.isEmpty
            }
            // Without the lock: to resume is to enqueue, which may run any code.
            for (continuation, next) in resumed { continuation?.resume(returning: next) }
            return isWaitedFor
        }

        func finish(_ end: Next) { change { if $0.end == nil { $0.end = end } } }
    }

    /// The reader's closure alone keeps it: a reader that is released before the end has ended the input.
    private final class Feed: Sendable {
        let shared: Shared
        init(_ shared: Shared) { self.shared = shared }
        deinit { shared.finish(.failure(.threadEnded)) }
    }

    private struct WeakReader: Sendable {
        weak var reader: InputReader<Element>?
    }

    private let file: RunLoop.File
    private let shared = Shared()
    private let reader = Guarded(WeakReader())

    /// - Throws: What the loop refuses.
    init(
        _ file: RunLoop.File, _ format: InputFormat<Element>, _ loop: RunLoop, _ mode: RunLoop.Mode
    ) throws(RunLoop.SystemCallError) {
        self.file = file
        let feed = Feed(shared)
        let reader = InputReader.sendable(file, as: format, label: "input") { reader, event in
            switch event {
            case .received(let batch):
                // First: the task may ask for more as soon as it has this.
                reader.isReadingPaused = true
                if feed.shared.change({ $0.batch += batch }) { reader.isReadingPaused = false }
            case .ended: feed.shared.finish(.success([]))
            case .failed(let error): feed.shared.finish(.failure(error))
            }
        }
        self.reader.withLock { $0.reader = reader }
        try loop.add(reader, in: mode)
    }

    deinit { end() }

    /// Ends the input for the task and the reader.
    func end() {
        shared.finish(.success([]))
        reader.withLock { $0.reader }?.invalidate()
    }

    /// The next element, if it has been read already.
    func takeOne() -> Element? { shared.state.withLock { $0.takeOne() } }

    /// The next elements, at most so many; none at the end, and none if the task is cancelled.
    ///
    /// A cancelled task leaves the others their places, and what is read later to them.
    func next(
        atMost maxCount: Int, isolation: isolated (any Actor)?
    ) async throws(RunLoop.InputError) -> [Element] {
        let waiter = Waiter(maxCount: maxCount)
        let mark = TaskWaits.areWanted ? TaskWaits.begin("input: \(file)") : 0
        defer { if mark != 0 { TaskWaits.end(mark) } }
        let next = await withTaskCancellationHandler {
            await withCheckedContinuation(isolation: isolation) { continuation in
                let known = shared.state.withLock { state -> Next? in
                    if waiter.isCancelled { return .success([]) }
                    // Behind the tasks that asked before.
                    let known = state.waiting.isEmpty ? state.take(atMost: maxCount) : nil
                    if known == nil {
                        waiter.continuation = continuation
                        state.waiting.append(waiter)
                    }
                    return known
                }
                guard let known else {
                    reader.withLock { $0.reader }?.isReadingPaused = false
                    return
                }
                continuation.resume(returning: known)
            }
        } onCancel: {
            let continuation = shared.state.withLock { state in
                waiter.isCancelled = true
                state.waiting.removeAll { $0 === waiter }
                return waiter.continuation.take()
            }
            continuation?.resume(returning: .success([]))
        }
        return try next.get()
    }
}
