// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

public import RunLoops
internal import RunLoopsConcurrency

extension RunLoop.MessagePort.Sender {
    /// Sends a message and waits for the reply, which it returns; the task waits without blocking a thread.
    ///
    /// The loop `loop` receives the reply: a port is in the mode of the loop as long as requests wait there. A
    /// message's own `replyTo` is replaced. If the receiver's queue has no room, or a port by name is not connected
    /// yet, a separate thread waits for that, within the same limit. If the task is cancelled while its message waits
    /// in this way, the message may still be sent.
    ///
    /// - Parameters:
    ///   - message: The request.
    ///   - loop: The loop that receives the reply; it has to run.
    ///   - limit: How long to wait in all, for room and for the reply; `nil` for no limit.
    ///   - mode: The mode in which the reply is received; `.common` for all common modes.
    /// - Returns: The result of the receiver's closure, or the first message that the receiver sent to the message's
    ///   `replyTo`.
    /// - Throws: The `PortError` of `request(_:within:in:)`, which waits on the thread; `CancellationError`;
    ///   `ThreadEndedError` when the loop's thread has ended or ends before. Nothing is left in the loop then, and a
    ///   later answer is dropped.
    ///
    /// Corresponds to `CFMessagePortSendRequest` with a reply mode.
    /// - Complexity: the cost of sending, and a port for the first of the requests that wait at the same time.
    public func request(
        _ message: RunLoop.MessagePort.Message, on loop: RunLoop, within limit: Duration? = nil,
        in mode: RunLoop.Mode = .common
    ) async throws -> RunLoop.MessagePort.Message {
        try Task.checkCancellation()
        let outcome = Outcome<RunLoop.MessagePort.Message>()
        let question = try Question(message, to: self, on: loop, in: mode) { result in
            outcome.settle(result.map { $0.mapError { $0 } } ?? .failure(RunLoop.ThreadEndedError()))
        }
        let deadline = limit.map { loop.clock.now.advanced(by: $0) }
        // Before the timer: a message that cannot be sent at all fails with that reason, however short the limit.
        question.send(within: limit)
        let timer = deadline.map { loop.startLimit($0, mode, question, outcome) }
        defer { timer?.item?.invalidate() }
        return try await withTaskCancellationHandler {
            try await outcome.value(of: "the reply to a message, in mode \(mode.rawValue) of \(loop.nameInWaits)")
        } onCancel: {
            outcome.settle(.failure(CancellationError())) { question.withdraw() }
        }
    }
}

extension RunLoop {
    /// Ends the question when the time is over.
    fileprivate func startLimit(
        _ deadline: Instant, _ mode: Mode, _ question: Question, _ outcome: Outcome<MessagePort.Message>
    ) -> WeakItem {
        let timer = Timer.starting(at: deadline, tolerance: .zero, label: "request") { _ in
            outcome.settle(.failure(PortError.timedOut)) { question.withdraw() }
        }
        add(timer, in: mode)
        return WeakItem(timer)
    }
}
