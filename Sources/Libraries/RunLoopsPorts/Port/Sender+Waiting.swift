// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

public import RunLoops

extension RunLoop.MessagePort.Sender {
    /// Sends a message and waits for the reply, which it returns.
    ///
    /// The thread's loop runs in `mode` meanwhile. In the mode `RunLoop.Mode.connectionReply` only what the program has
    /// added to that mode is served, and traces and dumps name the wait. To serve the items of another mode, pass that
    /// mode; the receiver itself can be one of its items. The loop runs also while there is no room for the message or
    /// no connection to a port by name: a separate thread waits for that. A message's own ``MessagePort/Message/replyTo`` is replaced.
    ///
    /// - Parameters:
    ///   - message: The question.
    ///   - limit: How long to wait in all, for room and for the reply; without a limit if `nil`.
    ///   - mode: The mode to run the calling thread's loop in.
    /// - Returns: What the receiver's closure returned, or the first message it sent to
    ///   ``MessagePort/Message/replyTo``.
    /// - Throws: the errors of ``send(_:within:)``; ``PortError/noReply`` when the receiver has dropped the message
    ///   without an answer; ``PortError/dead`` when the receiver has died before answering; ``PortError/timedOut``. An
    ///   answer that comes later is dropped.
    ///
    /// Corresponds to `CFMessagePortSendRequest` with a reply mode.
    @available(
        *, noasync,
        message: "The wait blocks a thread of Swift's pool: await request(_:on:within:in:)."
    )
    public func request(
        _ message: RunLoop.MessagePort.Message, within limit: Duration? = nil, in mode: RunLoop.Mode = .connectionReply
    ) throws(RunLoop.PortError) -> RunLoop.MessagePort.Message {
        require(mode != .common, "A thread cannot wait for an answer in the common modes: name one of them.")
        let deadline = Deadline.after(limit)
        let loop = RunLoop.current
        let waiting = Guarded(Waiting())
        let news = RunLoop.Source.sendable(label: "request") { _ in }
        defer { news.invalidate() }
        // By the loop's thread an answer ends the run as a handled source.
        @Sendable func change(_ body: (inout Waiting) -> Void) {
            waiting.withLock(body)
            if loop.threadID == SystemCalls.threadID { return }
            news.signal()
            loop.wakeUp()
        }
        let question = try Question(message, to: self, on: loop, in: Requests.waitingMode) { end in
            change { $0.end = .some(end) }
        }
        defer { question.withdraw() }
        let hasThread = try question.ask(until: deadline) { change { $0.hasThreadEnded = true } }
        if hasThread { loop.add(news, in: mode) }
        // The port is in its own mode for as long as the thread lives.
        let isElsewhere = mode != Requests.waitingMode
        if isElsewhere { do { try loop.add(question.port, in: mode) } catch { throw .system(error) } }
        defer { if isElsewhere { loop.remove(question.port, from: mode) } }
        let latest = deadline == Deadline.none ? SystemCalls.now(.monotonic) : deadline
        let instant = latest == Deadline.never ? nil : RunLoop.Instant(nanoseconds: latest)
        // Once the request has ended, the thread is about to end, too: a call leaves nothing open.
        func waitForThread() {
            while hasThread, !waiting.withLock({ $0.hasThreadEnded }) {
                _ = loop.run(in: mode, until: nil, returnsAfterSource: true)
            }
        }
        while true {
            if let end = waiting.withLock({ $0.end }) {
                // A thread that is ending takes no answers in.
                guard let end else { throw .dead }
                waitForThread()
                return try end.get()
            }
            // Other items in the mode may stop the run or end it; an answer ends it as a handled source.
            let run = loop.run(in: mode, until: instant, returnsAfterSource: true)
            guard run == .timedOut, waiting.withLock({ $0.end }) == nil else { continue }
            // The thread has the same limit.
            waitForThread()
            if waiting.withLock({ $0.end }) == nil { throw .timedOut }
        }
    }
}

/// The shared state of a thread that waits for an answer, of the code that ends the request, and of the thread that sends it.
private struct Waiting {
    var end: Requests.End?
    var hasThreadEnded = false
}
