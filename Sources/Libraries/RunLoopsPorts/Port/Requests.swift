// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

internal import RunLoops

/// Requests that wait for their answers, and the port of a loop that takes the answers in.
///
/// Requests of tasks share one port for each loop and mode, which goes with the last of them: a burst of requests
/// introduces one port to the other process, and nothing stays in the loop. Whoever waits on a thread uses a port that
/// stays in a mode of its own until the thread ends.
///
/// Thread safety: any thread; closures are called with no lock held.
final class Requests: Sendable {
    /// How a request ends: with the answer, or with the reason why there is none; with `nil` when the thread of the loop
    /// has ended.
    typealias End = Result<RunLoop.MessagePort.Message, RunLoop.PortError>?

    private struct Request {
        let ended: @Sendable (End) -> Void
        var handle: UInt64 = 0
    }

    private struct State {
        var requests: [UInt64: Request] = [:]
        var isClosed = false
    }

    private struct Key: Hashable {
        let loop: ObjectIdentifier
        let mode: RunLoop.Mode
    }

    /// The mode of threads that wait.
    static let waitingMode = RunLoop.Mode.connectionReply
    /// All open requests of this process.
    private static let all = PerProcess { Guarded<[Key: Requests]>([:]) }

    let port: RunLoop.MessagePort
    private let key: Key
    private let state = Guarded(State())
    private var goesWithLast: Bool { key.mode != Self.waitingMode }

    // MARK: Requests come

    /// Opens a request, whose answer will come on the loop in this mode.
    ///
    /// - Parameter ended: Called once, unless the request is withdrawn.
    static func open(
        on loop: RunLoop, in mode: RunLoop.Mode, _ ended: @escaping @Sendable (End) -> Void
    ) throws(RunLoop.PortError) -> (requests: Requests, serial: UInt64) {
        let key = Key(loop: ObjectIdentifier(loop), mode: mode)
        while true {
            if let known = all.own.withLock({ $0[key] }) {
                if let serial = known.begin(ended) { return (known, serial) }
                // The last request has just been answered: this port is about to leave the table.
                known.leaveTable()
                continue
            }
            let new = Requests(key)
            // Before another thread can know the port, so that it is not closed meanwhile.
            guard let serial = new.begin(ended) else { preconditionFailure("A new table is open.") }
            let isTaken = all.own.withLock { all in
                if all[key] != nil { return false }
                all[key] = new
                return true
            }
            // Another thread was faster: this port was never in the loop.
            if !isTaken { continue }
            do throws(RunLoop.SystemCallError) { try loop.add(new.port, in: mode) } catch {
                new.close(.failure(.system(error)))
                new.port.invalidate()
                throw .system(error)
            }
            // A loop without a thread takes no answers in, and would call nobody.
            if loop.isEnded { new.port.invalidate() }
            return (new, serial)
        }
    }

    private init(_ key: Key) {
        self.key = key
        let owner = PortOwner()
        port = RunLoop.MessagePort(
            RunLoop.MessagePort.Limits(messageSize: 131_072, descriptors: 253), ItemLabel("answers"), allowedThread: 0
        ) { delivery in
            owner.requests?.answered(delivery)
            return nil
        }
        owner.requests = self
        port.channelEnded = { [weak self] handle in
            if handle == 0 { self?.close(nil) } else { self?.channelEnded(handle) }
        }
        port.awaitsAnswer = { [weak self] handle in self?.awaits(handle) == true }
    }

    private func begin(_ ended: @escaping @Sendable (End) -> Void) -> UInt64? {
        state.withLock { state in
            if state.isClosed { return nil }
            let serial = Delivery.newSerial()
            state.requests[serial] = Request(ended: ended)
            return serial
        }
    }

    // MARK: Requests go out

    /// Sends the request.
    ///
    /// When it throws, the request is still open, so that it may be sent again.
    func send(
        _ message: RunLoop.MessagePort.Message, _ serial: UInt64, _ sender: RunLoop.MessagePort.Sender,
        of thread: Int32, until deadline: Int64
    ) throws(RunLoop.PortError) {
        let handle = try port.ask(message, serial, sender, of: thread, until: deadline)
        if handle == 0 { return }
        state.withLock { $0.requests[serial]?.handle = handle }
        if !port.hasChannel(handle) { end(serial, .failure(.dead)) }
    }

    // MARK: Answers come

    private func answered(_ delivery: Delivery) {
        // An answer to a request that has given up, or a second answer, is dropped.
        end(delivery.serial, delivery.kind == .reply ? .success(delivery.message) : .failure(.noReply))
    }

    /// Whether a request waits for its answer by a channel, or is being sent by one that is not known yet.
    private func awaits(_ handle: UInt64) -> Bool {
        state.withLock { state in state.requests.values.contains { $0.handle == handle || $0.handle == 0 } }
    }

    /// The other side of a channel has gone.
    private func channelEnded(_ handle: UInt64) {
        let serials = state.withLock { state in state.requests.filter { $0.value.handle == handle }.map(\.key) }
        for serial in serials { end(serial, .failure(.dead)) }
    }

    /// Ends a request; if it was still open, calls its closure with `end`.
    func end(_ serial: UInt64, _ end: End) { takeOut(serial)?.ended(end) }

    /// Ends a request without calling its closure.
    func withdraw(_ serial: UInt64) { _ = takeOut(serial) }

    /// Removes a request for the one caller that ends it; the port goes with the last.
    private func takeOut(_ serial: UInt64) -> Request? {
        let (request, isLast) = state.withLock { state -> (Request?, Bool) in
            guard let request = state.requests.removeValue(forKey: serial) else { return (nil, false) }
            if goesWithLast, state.requests.isEmpty { state.isClosed = true }
            return (request, state.isClosed)
        }
        if isLast {
            leaveTable()
            port.invalidate()
        }
        return request
    }

    /// Ends all requests: the port has ended.
    private func close(_ end: End) {
        let requests = state.withLock { state in
            state.isClosed = true
            defer { state.requests = [:] }
            return state.requests
        }
        leaveTable()
        for request in requests.values { request.ended(end) }
    }

    private func leaveTable() {
        // The caller's reference keeps this alive while the lock is held.
        Self.all.own.withLock { all in
            if all[key] === self { all[key] = nil }
        }
    }
}

/// What the port of requests knows of them.
private final class PortOwner: @unchecked Sendable {
    // Set once, before an answer can arrive.
    weak var requests: Requests?
}
