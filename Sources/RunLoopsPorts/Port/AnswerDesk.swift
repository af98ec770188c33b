// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

internal import RunLoops

/// Takes answers in on a loop for askers that do not wait there: a port that is in a mode of the loop while asks are
/// open.
///
/// One desk for all asks that are open at a time, so that a burst of asks introduces one port to the other process. The
/// desk goes with the last ask, and nothing stays in the loop.
///
/// Thread safety: any thread; closures are called with no lock held.
final class AnswerDesk: Sendable {
    /// Called once: with the answer, or with the reason why there is none; with `nil` when the thread of the loop has
    /// ended.
    typealias Told = @Sendable (Result<RunLoop.MessagePort.Message, RunLoop.PortError>?) -> Void

    private struct Ask {
        let told: Told
        var handle: UInt64 = 0
    }

    private struct State {
        var asks: [UInt64: Ask] = [:]
        var isClosed = false
    }

    private struct Key: Hashable {
        let loop: ObjectIdentifier
        let mode: RunLoop.Mode
    }

    /// The open desks.
    private static let desks = PerProcess { Guarded<[Key: AnswerDesk]>([:]) }

    private let key: Key
    private let state = Guarded(State())
    private let port: RunLoop.MessagePort

    // MARK: Asks come

    /// Opens an ask at the desk of the loop; makes the desk if there is none.
    static func open(
        on loop: RunLoop, in mode: RunLoop.Mode, _ told: @escaping Told
    ) throws(RunLoop.PortError) -> (desk: AnswerDesk, serial: UInt64) {
        let key = Key(loop: ObjectIdentifier(loop), mode: mode)
        while true {
            if let known = desks.own.withLock({ $0[key] }) {
                if let serial = known.begin(told) { return (known, serial) }
                // The last ask has just been answered: the desk is about to leave the table.
                known.leaveTable()
                continue
            }
            let desk = AnswerDesk(key)
            // Before another thread can know the desk, so that the desk is not closed meanwhile.
            guard let serial = desk.begin(told) else { preconditionFailure("A new desk is open.") }
            let isTaken = desks.own.withLock { desks in
                if desks[key] != nil { return false }
                desks[key] = desk
                return true
            }
            // Another thread was faster: this desk was never in the loop.
            if !isTaken { continue }
            do throws(RunLoop.SystemCallError) { try loop.add(desk.port, in: mode) } catch {
                desk.close(.failure(.system(error)))
                desk.port.invalidate()
                throw .system(error)
            }
            // A loop without a thread takes no answers in, and would call nobody.
            if loop.isEnded { desk.port.invalidate() }
            return (desk, serial)
        }
    }

    private init(_ key: Key) {
        self.key = key
        let reference = DeskReference()
        port = RunLoop.MessagePort(
            RunLoop.MessagePort.Limits(messageSize: 131_072, descriptors: 253), ItemLabel("answers"), allowedThread: 0
        ) {
            delivery in
            reference.desk?.answered(delivery)
            return nil
        }
        reference.desk = self
        port.channelEnded = { [weak self] handle in
            if handle == 0 { self?.close(nil) } else { self?.ended(handle) }
        }
    }

    private func begin(_ told: @escaping Told) -> UInt64? {
        state.withLock { state in
            if state.isClosed { return nil }
            let serial = Delivery.newSerial()
            state.asks[serial] = Ask(told: told)
            return serial
        }
    }

    // MARK: Questions go out

    /// Sends the question.
    ///
    /// When it throws, the ask is still open, so that it may be sent again.
    func send(
        _ message: RunLoop.MessagePort.Message, _ serial: UInt64, _ sender: RunLoop.MessagePort.Sender,
        until deadline: Int64
    ) throws(RunLoop.PortError) {
        let handle = try port.ask(message, serial, sender, until: deadline)
        if handle == 0 { return }
        state.withLock { $0.asks[serial]?.handle = handle }
        if !port.hasChannel(handle) { tell(serial, .failure(.dead)) }
    }

    // MARK: Answers come

    private func answered(_ delivery: Delivery) {
        tell(delivery.serial, delivery.kind == .reply ? .success(delivery.message) : .failure(.noReply))
    }

    /// The other side of a channel has gone.
    private func ended(_ handle: UInt64) {
        let serials = state.withLock { state in state.asks.filter { $0.value.handle == handle }.map(\.key) }
        for serial in serials { tell(serial, .failure(.dead)) }
    }

    /// Ends an ask, and reports how it ended if it was still open.
    func tell(_ serial: UInt64, _ result: Result<RunLoop.MessagePort.Message, RunLoop.PortError>) {
        end(serial)?.told(result)
    }

    /// Ends an ask without a report.
    func withdraw(_ serial: UInt64) { _ = end(serial) }

    /// Removes an ask for the one caller that ends it; the desk goes with the last ask.
    private func end(_ serial: UInt64) -> Ask? {
        let (ask, isLast) = state.withLock { state -> (Ask?, Bool) in
            guard let ask = state.asks.removeValue(forKey: serial) else { return (nil, false) }
            if state.asks.isEmpty { state.isClosed = true }
            return (ask, state.isClosed)
        }
        if isLast {
            leaveTable()
            port.invalidate()
        }
        return ask
    }

    /// Ends all asks: the port has ended.
    private func close(_ result: Result<RunLoop.MessagePort.Message, RunLoop.PortError>?) {
        let asks = state.withLock { state in
            state.isClosed = true
            defer { state.asks = [:] }
            return state.asks
        }
        leaveTable()
        for ask in asks.values { ask.told(result) }
    }

    private func leaveTable() {
        // The caller's reference keeps the desk alive while the lock is held.
        Self.desks.own.withLock { desks in
            if desks[key] === self { desks[key] = nil }
        }
    }
}

/// What the port of a desk knows of the desk.
private final class DeskReference: @unchecked Sendable {
    // Set once, before an answer can arrive.
    weak var desk: AnswerDesk?
}
