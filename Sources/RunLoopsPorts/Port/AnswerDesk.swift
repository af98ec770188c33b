internal import RunLoops

/// Takes answers in on a loop for whoever does not wait there: a port that is in a mode of the loop while something is asked.
///
/// One for all that is asked at a time, so that a burst of asks introduces one port to the other process. With the last of
/// them it goes, and nothing stays in the loop.
///
/// Thread safety: any thread; what is told, is told with no lock held.
final class AnswerDesk: Sendable {
    /// Told once: the answer, or why there is none; `nil` when the thread of the loop has ended.
    typealias Told = @Sendable (Result<RunLoop.MessagePort.Message, RunLoop.PortError>?) -> Void

    private struct Ask {
        let told: Told
        var handle: UInt64 = 0
    }

    private struct State {
        var asks: [UInt64: Ask] = [:]
        var lastSerial: UInt64 = 0
        var isClosed = false
    }

    private struct Key: Hashable {
        let loop: ObjectIdentifier
        let mode: RunLoop.Mode
    }

    /// The open ones.
    private static let desks = Guarded<[Key: AnswerDesk]>([:])

    private let key: Key
    private let state = Guarded(State())
    private let port: RunLoop.MessagePort

    // MARK: Asks come

    /// Opens an ask at the desk of the loop, which is made for it if there is none.
    static func open(
        on loop: RunLoop, in mode: RunLoop.Mode, _ told: @escaping Told
    ) throws(RunLoop.PortError) -> (desk: AnswerDesk, serial: UInt64) {
        let key = Key(loop: ObjectIdentifier(loop), mode: mode)
        while true {
            if let known = desks.withLock({ $0[key] }) {
                if let serial = known.begin(told) { return (known, serial) }
                // The last ask has just been answered: on its way out of the table.
                known.leaveTable()
                continue
            }
            let desk = AnswerDesk(key)
            // Before anybody else can know it, so that it is not closed meanwhile.
            guard let serial = desk.begin(told) else { preconditionFailure("A new desk is open.") }
            let isTaken = desks.withLock { desks in
                if desks[key] != nil { return false }
                desks[key] = desk
                return true
            }
            // Somebody else was faster: this one was never in the loop.
            if !isTaken { continue }
            do throws(RunLoop.SystemCallError) { try loop.add(desk.port, in: mode) } catch {
                desk.close(.failure(.system(error)))
                desk.port.invalidate()
                throw .system(error)
            }
            // A loop without a thread takes nothing in, and would tell nobody.
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
            state.lastSerial += 1
            state.asks[state.lastSerial] = Ask(told: told)
            return state.lastSerial
        }
    }

    // MARK: Questions go out

    /// Sends what is asked.
    ///
    /// When it throws, the ask is still open, so that it may be sent again.
    func send(
        _ message: RunLoop.MessagePort.Message, _ serial: UInt64, _ sender: RunLoop.MessagePort.Sender,
        until deadline: Int64
    ) throws(RunLoop.PortError) {
        // Nothing of ours may hold the right to answer: its end is how we learn that nobody will.
        let handle = try sendAsking(message, serial, sender, until: deadline)
        if handle == 0 { return }
        state.withLock { $0.asks[serial]?.handle = handle }
        if !port.hasChannel(handle) { tell(serial, .failure(.dead)) }
    }

    private func sendAsking(
        _ message: RunLoop.MessagePort.Message, _ serial: UInt64, _ sender: RunLoop.MessagePort.Sender,
        until deadline: Int64
    ) throws(RunLoop.PortError) -> UInt64 {
        var message = message
        let replyTo = RunLoop.MessagePort.Sender(port.queue, answering: serial)
        message.replyTo = replyTo
        do { return try sender.send(message, until: deadline) } catch {
            // The failure is told by throwing it.
            replyTo.markUsed()
            throw error
        }
    }

    // MARK: Answers come

    private func answered(_ delivery: Delivery) {
        tell(delivery.serial, delivery.kind == .reply ? .success(delivery.message) : .failure(.noReply))
    }

    /// A channel's other side has gone.
    private func ended(_ handle: UInt64) {
        let serials = state.withLock { state in state.asks.filter { $0.value.handle == handle }.map(\.key) }
        for serial in serials { tell(serial, .failure(.dead)) }
    }

    /// Ends an ask, and tells how it ended if it was still open.
    func tell(_ serial: UInt64, _ result: Result<RunLoop.MessagePort.Message, RunLoop.PortError>) {
        end(serial)?.told(result)
    }

    /// Ends an ask without a word.
    func withdraw(_ serial: UInt64) { _ = end(serial) }

    /// An ask that is ended by the caller alone; the desk goes with the last one.
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
        // The caller's reference keeps it from going while the lock is held.
        Self.desks.withLock { desks in
            if desks[key] === self { desks[key] = nil }
        }
    }
}

/// What the port of a desk knows of it.
private final class DeskReference: @unchecked Sendable {
    // Set once, before anything can arrive.
    weak var desk: AnswerDesk?
}
