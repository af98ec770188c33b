// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

public import RunLoops

/// Waits for answers on a thread: a port in a mode of the thread's loop that holds nothing else.
///
/// Each thread that asks has one asker, until the thread ends. Used on that thread alone, except the table.
final class Asker: @unchecked Sendable {
    private struct Pending {
        var handle: UInt64 = 0
        var result: Result<RunLoop.MessagePort.Message, RunLoop.PortError>?
    }

    /// By the number of the asker's thread.
    private static let askers = PerProcess { Guarded<[Int32: Asker]>([:]) }
    static let mode = RunLoop.Mode("RunLoopsPorts.Ask")

    private let loop: RunLoop
    private let port: RunLoop.MessagePort
    /// Belongs to the thread alone.
    @exclusivity(unchecked) private var pending: [UInt64: Pending] = [:]

    /// The calling thread's asker.
    static var current: Asker {
        let thread = SystemCalls.threadID
        // After a thread has ended, another thread may get its number, but has another loop.
        if let known = askers.own.withLock({ $0[thread] }), known.loop === RunLoop.current,
            known.port.isValid
        {
            return known
        }
        let asker = Asker(RunLoop.current)
        let old = askers.own.withLock { askers -> [Int32: Asker] in
            let old = askers
            // Askers of threads that have ended leave the table as well.
            askers = old.filter { $0.value.port.isValid }
            askers[thread] = asker
            return old
        }
        withExtendedLifetime(old) {}
        return asker
    }

    private init(_ loop: RunLoop) {
        self.loop = loop
        let reference = AskerReference()
        port = RunLoop.MessagePort(
            RunLoop.MessagePort.Limits(messageSize: 131_072, descriptors: 253), ItemLabel("asker"),
            allowedThread: SystemCalls.threadID
        ) { delivery in
            reference.asker?.answered(delivery)
            return nil
        }
        reference.asker = self
        port.channelEnded = { [weak self] in $0 == 0 ? self?.leaveTable() : self?.ended($0) }
        do { try loop.add(port, in: Self.mode) } catch {
            preconditionFailure("A new port has no connections, and asks nothing of the system: \(error)")
        }
    }

    // MARK: The thread

    func ask(
        _ sender: RunLoop.MessagePort.Sender, _ message: RunLoop.MessagePort.Message, until deadline: Int64,
        in mode: RunLoop.Mode?
    ) throws(RunLoop.PortError) -> RunLoop.MessagePort.Message {
        let serial = Delivery.newSerial()
        pending[serial] = Pending()
        defer { pending[serial] = nil }
        let handle = try port.ask(message, serial, sender, until: deadline)
        pending[serial]?.handle = handle
        if handle != 0, !port.hasChannel(handle) { throw .dead }
        if let mode { do { try loop.add(port, in: mode) } catch { throw .system(error) } }
        defer { if let mode { loop.remove(port, from: mode) } }
        let limit = deadline == Deadline.none ? SystemCalls.now(.monotonic) : deadline
        let instant = limit == Deadline.never ? nil : RunLoop.Instant(nanoseconds: limit)
        while true {
            if let result = pending[serial]?.result {
                if case .failure(.noReply) = result, sender.isDead { throw .dead }
                return try result.get()
            }
            // Other items in the mode may stop the run or end it; an answer ends it as a handled source.
            let run = loop.run(mode: mode ?? Self.mode, until: instant, returnAfterSourceHandled: true)
            if run == .timedOut, pending[serial]?.result == nil { throw .timedOut }
        }
    }

    private func answered(_ delivery: Delivery) {
        // An answer to an ask that has given up, or a second answer, is dropped.
        guard let known = pending[delivery.serial], known.result == nil else { return }
        pending[delivery.serial]?.result =
            delivery.kind == .reply ? .success(delivery.message) : .failure(.noReply)
    }

    /// The thread ends, and the asker's port has ended.
    private func leaveTable() {
        let old = Self.askers.own.withLock { askers -> Asker? in
            guard let thread = askers.first(where: { $0.value === self })?.key else { return nil }
            return askers.removeValue(forKey: thread)
        }
        withExtendedLifetime(old) {}
    }

    private func ended(_ handle: UInt64) {
        for (serial, ask) in pending where ask.handle == handle && ask.result == nil {
            pending[serial]?.result = .failure(.dead)
        }
    }
}

/// What the port of an asker knows of the asker.
private final class AskerReference: @unchecked Sendable {
    // Set once, before an answer can arrive.
    weak var asker: Asker?
}

extension RunLoop.MessagePort.Sender {
    /// Sends a message and waits for the reply, which it returns.
    ///
    /// The thread's loop runs in `mode` meanwhile. Without a mode the loop runs in a private mode, in which nothing
    /// else is served. Give a mode to have other items go on; the receiver itself can be one of these items. A
    /// message's own ``MessagePort/Message/replyTo`` is replaced.
    ///
    /// - Parameters:
    ///   - message: The question.
    ///   - limit: How long to wait in all, for room and for the reply; for ever if `nil`.
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
        _ message: RunLoop.MessagePort.Message, within limit: Duration? = nil, in mode: RunLoop.Mode? = nil
    ) throws(RunLoop.PortError) -> RunLoop.MessagePort.Message {
        require(mode != .common, "A thread cannot wait for an answer in the common modes: name one of them.")
        return try Asker.current.ask(self, message, until: Deadline.after(limit), in: mode)
    }
}
