// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

internal import RunLoops

/// What stands between a reader on a loop's thread and the task that takes what the reader has read.
///
/// The sequence and its iterators keep the intake, and the loop keeps the reader. The reader pauses after each batch; the
/// task that finds nothing makes it go on.
final class Intake<Element: Sendable>: Sendable {
    typealias Next = Result<[Element]?, RunLoop.InputError>

    private struct State {
        var batch: [Element] = []
        /// How the input has ended: with an error or without.
        var end: Next?
        var waiting: CheckedContinuation<Next, Never>?
    }

    /// Shared with the reader's closure, which does not keep the intake.
    private final class Shared: Sendable {
        let state = Guarded(State())

        /// Hands the news to the task that waits, if one does.
        func change(_ body: (inout State) -> Void) {
            let resumed = state.withLock { state -> (CheckedContinuation<Next, Never>, Next)? in
                body(&state)
                guard let waiting = state.waiting, let next = Shared.take(&state) else { return nil }
                state.waiting = nil
                return (waiting, next)
            }
            // Without the lock: to resume is to enqueue, which may run any code.
            if let (waiting, next) = resumed { waiting.resume(returning: next) }
        }

        static func take(_ state: inout State) -> Next? {
            if state.batch.isEmpty { return state.end }
            defer { state.batch = [] }
            return .success(state.batch)
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

    private let shared = Shared()
    private let reader = Guarded(WeakReader())

    /// - Throws: What the loop refuses.
    init(
        _ file: RunLoop.File, _ format: InputFormat<Element>, _ loop: RunLoop, _ mode: RunLoop.Mode
    ) throws(RunLoop.SystemCallError) {
        let feed = Feed(shared)
        let reader = InputReader.sendable(file, as: format, label: "input") { reader, event in
            switch event {
            case .received(let batch):
                // First: the task may ask for more as soon as it has this.
                reader.isReadingPaused = true
                feed.shared.change { $0.batch += batch }
            case .ended: feed.shared.finish(.success(nil))
            case .failed(let error): feed.shared.finish(.failure(error))
            }
        }
        self.reader.withLock { $0.reader = reader }
        try loop.add(reader, in: mode)
    }

    deinit { end() }

    /// Ends the input for the task and the reader.
    func end() {
        shared.finish(.success(nil))
        reader.withLock { $0.reader }?.invalidate()
    }

    /// The next batch; `nil` at the end.
    func next(isolation: isolated (any Actor)?) async throws(RunLoop.InputError) -> [Element]? {
        let next = await withTaskCancellationHandler {
            await withCheckedContinuation(isolation: isolation) { continuation in
                let known = shared.state.withLock { state -> Next? in
                    let known = Shared.take(&state)
                    if known == nil { state.waiting = continuation }
                    return known
                }
                guard let known else {
                    reader.withLock { $0.reader }?.isReadingPaused = false
                    return
                }
                continuation.resume(returning: known)
            }
        } onCancel: {
            end()
        }
        return try next.get()
    }
}
