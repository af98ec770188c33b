// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

internal import CRunLoopsKernel
package import RunLoops
internal import RunLoopsLibC

/// A request whose answer arrives on the thread of a loop.
///
/// For callers that cannot block a thread.
///
/// Thread safety: any thread.
package final class Question: Sendable {
    private let requests: Requests
    private let serial: UInt64
    private let sender: RunLoop.MessagePort.Sender
    private let message: RunLoop.MessagePort.Message

    /// Opens a question, which the caller then sends with ``send(within:)``.
    ///
    /// - Parameter ended: Called once with the answer, or with the reason why there is none; with `nil` when the thread
    ///   of the loop has ended. Not called after the question was withdrawn.
    package init(
        _ message: RunLoop.MessagePort.Message, to sender: RunLoop.MessagePort.Sender, on loop: RunLoop,
        in mode: RunLoop.Mode,
        ended: @escaping @Sendable (Result<RunLoop.MessagePort.Message, RunLoop.PortError>?) -> Void
    ) throws(RunLoop.PortError) {
        (requests, serial) = try Requests.open(on: loop, in: mode) { [sender] result in
            // A dead receiver drops the messages that it had, and that news comes first.
            if case .failure(.noReply) = result, sender.isDead { return ended(.failure(.dead)) }
            ended(result)
        }
        self.sender = sender
        self.message = message
    }

    /// Withdraws the question: an answer that arrives later is dropped.
    package func withdraw() { requests.withdraw(serial) }

    /// The port that receives the answer.
    var port: RunLoop.MessagePort { requests.port }

    /// Sends the message, without waiting here; a failure ends the question.
    ///
    /// If the receiver's queue has no room yet, or there is no connection, a separate thread waits for that.
    package func send(within limit: Duration?) {
        do throws(RunLoop.PortError) { _ = try ask(until: Deadline.after(limit)) {} } catch {
            requests.end(serial, .failure(error))
        }
    }

    /// Sends the message, without waiting here; returns whether a separate thread waits to send it.
    ///
    /// A failure of that thread ends the question. The thread calls `ended` last, when it holds neither the question nor its
    /// sender any more.
    func ask(until deadline: Int64, ended: @escaping @Sendable () -> Void) throws(RunLoop.PortError) -> Bool {
        let asker = SystemCalls.threadID
        do throws(RunLoop.PortError) {
            try requests.send(message, serial, sender, of: asker, until: Deadline.none)
            return false
        } catch {
            let isWorthWaiting = error == .full || error == .timedOut
            // Room that only this thread can make would not come while this thread waits.
            if !isWorthWaiting || deadline == Deadline.none || sender.route.isOwn { throw error }
        }
        let held = Guarded<Question?>(self)
        try Errand.begin {
            held.withLock { $0.take() }?.send(of: asker, until: deadline)
            ended()
        }
        return true
    }

    private func send(of thread: Int32, until deadline: Int64) {
        do throws(RunLoop.PortError) { try requests.send(message, serial, sender, of: thread, until: deadline) } catch {
            requests.end(serial, .failure(error))
        }
    }
}

extension RunLoop.MessagePort {
    /// Sends a message whose answer comes to this port, with this serial.
    ///
    /// Returns the handle of the channel on which the answer will come from another process; 0 for none.
    ///
    /// No object of this package holds the right to answer afterwards: the end of that right says that no answer will come.
    func ask(
        _ message: Message, _ serial: UInt64, _ sender: Sender, of thread: Int32, until deadline: Int64
    ) throws(RunLoop.PortError) -> UInt64 {
        var message = message
        let replyTo = Sender(queue, answering: serial)
        message.replyTo = replyTo
        do { return try sender.send(message, of: thread, until: deadline) } catch {
            // The caller learns of the failure from the thrown error.
            replyTo.markUsed()
            throw error
        }
    }
}

/// A thread that does one thing, which may take a long time.
private final class Errand {
    private let body: @Sendable () -> Void

    private init(_ body: @escaping @Sendable () -> Void) { self.body = body }

    static func begin(_ body: @escaping @Sendable () -> Void) throws(RunLoop.PortError) {
        let errand = Unmanaged.passRetained(Errand(body))
        let result = rl_thread_start_detached(
            { argument in
                // SAFETY: the reference passed below; taken once.
                Unmanaged<Errand>.fromOpaque(argument.unsafelyUnwrapped).takeRetainedValue().body()
                return nil
            }, errand.toOpaque())
        if result == 0 { return }
        errand.release()
        try Errors.check("pthread_create", result)
    }
}
