// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

internal import CRunLoopsKernel
public import RunLoops

/// Looks up the name of a host, connects to the first of its addresses that answers, and calls a closure on a loop's
/// thread once, with the socket or the error.
///
/// ```swift
/// let connector = try HostConnector(to: .host("localhost", 8080)) { _, result in … }
/// try loop.add(connector, in: .default)
/// ```
///
/// The lookup begins when the connector is made, on a thread of its own (``RunLoops/RunLoop/HostAddress``). The attempts
/// follow RFC 8305: the addresses are tried in the resolver's order with the families taking turns, the next one when
/// the one before has failed, or has not answered for 250 ms. The first connection wins, and the other attempts are
/// closed. The loop's thread waits for none of it. The source is invalidated before its callout; a connector that is
/// invalidated earlier ends the attempts, and drops the result of a lookup under way.
///
/// The lookup asks for both families in one call, which returns when both answers are there.
///
/// Corresponds to `CFHost` and `CFStreamCreatePairWithSocketToHost`.
///
/// Thread safety: all members may be used by any thread.
public final class HostConnector: EventSource, EndingSource, @unchecked Sendable {
    /// The socket, or the error with the addresses that were tried.
    public typealias Outcome = Result<RunLoop.Socket, RunLoop.HostError>
    /// Called with the connector and the result.
    typealias Handler = (HostConnector, Outcome) -> Void

    private struct Place {
        weak var loop: RunLoop?
        let mode: RunLoop.Mode
    }

    /// "Connection Attempt Delay", the value that RFC 8305 recommends in section 8.
    private static let attemptDelay = Duration.milliseconds(250)

    /// The host that the connector connects to.
    public let host: RunLoop.HostAddress
    private let timeLimit: Duration
    let state = Lock()
    // Guarded by `state`, which is taken before the locks of other sources and of the loop.
    @exclusivity(unchecked) private(set) var handler: Handler?
    @exclusivity(unchecked) private var found: HostLookup.Result?
    @exclusivity(unchecked) private var race = AddressRace()
    @exclusivity(unchecked) private var attempts: [SocketConnector] = []
    @exclusivity(unchecked) private var places: [Place] = []
    @exclusivity(unchecked) private var hasTimeBegun = false
    // Set by init, and not changed after it.
    @exclusivity(unchecked) private var lookup: HostLookup?
    @exclusivity(unchecked) private var nextTimer: RunLoop.Timer?
    @exclusivity(unchecked) private var limitTimer: RunLoop.Timer?

    /// A connector whose closure runs on the thread that makes it, and may use that thread's state.
    ///
    /// - Parameters:
    ///   - host: The host and the port or service there.
    ///   - limit: How long the lookup and the attempts may take together, on the loop's monotonic clock, from when the
    ///     connector is first added to a mode.
    ///   - label: The name in descriptions and tools; where the connector was made, if `nil`.
    ///   - fileID: Where the connector was made.
    ///   - line: Where the connector was made.
    ///   - handler: Called with the connector and the socket, or the error.
    /// - Throws: `EMFILE`, `ENFILE` or `ENOMEM` when a resource of the system is used up.
    ///
    /// Adding the connector to the loop of another thread traps.
    public convenience init(
        to host: RunLoop.HostAddress, within limit: Duration = .seconds(30), label: String? = nil,
        fileID: StaticString = #fileID, line: UInt = #line, handler: @escaping (HostConnector, Outcome) -> Void
    ) throws(RunLoop.SystemCallError) {
        try self.init(host, limit, LookupThreads.shared.own, .here(label, fileID, line), handler)
    }

    /// A connector whose closure may run on any thread: it can be added to any loop.
    ///
    /// The parameters are those of ``init(to:within:label:fileID:line:handler:)``.
    public static func sendable(
        to host: RunLoop.HostAddress, within limit: Duration = .seconds(30), label: String? = nil,
        fileID: StaticString = #fileID, line: UInt = #line,
        handler: @escaping @Sendable (HostConnector, Outcome) -> Void
    ) throws(RunLoop.SystemCallError) -> HostConnector {
        try HostConnector(host, limit, LookupThreads.shared.own, .anywhere(label, fileID, line), handler)
    }

    /// A connector whose closure runs on the main actor: it can be added to the main loop, from any thread.
    ///
    /// The parameters are those of ``init(to:within:label:fileID:line:handler:)``.
    public static func mainActor(
        to host: RunLoop.HostAddress, within limit: Duration = .seconds(30), label: String? = nil,
        fileID: StaticString = #fileID, line: UInt = #line,
        handler: @escaping @MainActor (HostConnector, Outcome) -> Void
    ) throws(RunLoop.SystemCallError) -> HostConnector {
        try HostConnector(host, limit, LookupThreads.shared.own, .mainThread(label, fileID, line)) {
            connector, outcome in
            MainActor.assumeIsolated { handler(connector, outcome) }
        }
    }

    /// A connector whose lookup runs on threads of the caller's.
    init(
        _ host: RunLoop.HostAddress, _ timeLimit: Duration, _ threads: LookupThreads, _ origin: SourceOrigin,
        _ handler: @escaping Handler
    ) throws(RunLoop.SystemCallError) {
        self.host = host
        self.timeLimit = timeLimit
        self.handler = handler
        // Readable when the lookup has ended.
        let file = Descriptor(try check("eventfd", rl_eventfd_create()))
        super.init(file, for: .readable, origin)
        nextTimer = origin.restingTimer("next address") { [weak self] in self?.beginNext() }
        limitTimer = origin.restingTimer("time limit") { [weak self] in self?.timeIsOver() }
        lookup = HostLookup(of: host, by: threads) { [weak self] result in
            self?.state.withLock { self?.found = result }
            // The lookup keeps the descriptor open, so that the number is not another file's.
            _ = rl_eventfd_write(file.number)
        }
    }

    // A connector that its loop has released, at the end of the thread.
    deinit { lookup?.cancel() }

    // MARK: Modes

    override func entered(_ mode: RunLoop.Mode, of loop: RunLoop) {
        for timer in [nextTimer, limitTimer] { if let timer { loop.add(timer, in: mode) } }
        let isFirst = state.withLock {
            places.append(Place(loop: loop, mode: mode))
            for attempt in attempts where attempt.isValid { add(attempt, in: places.suffix(1)) }
            defer { hasTimeBegun = true }
            return !hasTimeBegun
        }
        if isFirst { limitTimer?.restart(after: timeLimit) }
    }

    override func left(_ mode: RunLoop.Mode, of loop: RunLoop) {
        for timer in [nextTimer, limitTimer] { if let timer { loop.remove(timer, from: mode) } }
        state.withLock {
            places.removeAll { $0.loop === loop && $0.mode == mode }
            for attempt in attempts { loop.remove(attempt, from: mode) }
        }
    }

    // MARK: The loop's thread

    override func ready(_ events: Events) {
        let result = state.withLock {
            defer { found = nil }
            return found
        }
        guard let result else { return }
        // The descriptor stays readable.
        watched = []
        switch result {
        case .failure(let reason): end(with: .failure(RunLoop.HostError(host, reason)))
        case .success(let addresses):
            state.withLock { race = AddressRace(addresses) }
            beginNext()
        }
    }

    /// Begins the next attempt; an attempt that fails at once is followed by another one.
    private func beginNext() {
        while let (number, address) = state.withLock({ race.begin() }) {
            do throws(RunLoop.SystemCallError) {
                let attempt = try SocketConnector.sendable(
                    to: address, label: "connection to \(address) of \(label)", fileID: origin.fileID, line: origin.line
                ) { [weak self] _, outcome in self?.ended(number, outcome) }
                if !keep(attempt) { return attempt.invalidate() }
                if state.withLock({ race.hasMore }) { nextTimer?.restart(after: Self.attemptDelay) }
                return
            } catch {
                state.withLock { race.fail(number, error) }
            }
        }
        let attempts = state.withLock { race.isLost ? race.attempts : nil }
        if let attempts { end(with: .failure(RunLoop.HostError(host, .unreachable, attempts: attempts))) }
    }

    /// Keeps an attempt, and adds it to the modes of this source; `false` if this source was invalidated meanwhile.
    private func keep(_ attempt: SocketConnector) -> Bool {
        state.withLock {
            guard handler != nil else { return false }
            attempts.append(attempt)
            add(attempt, in: places[...])
            return true
        }
    }

    /// With the lock held.
    private func add(_ attempt: SocketConnector, in places: ArraySlice<Place>) {
        for place in places {
            do throws(RunLoop.SystemCallError) {
                try place.loop?.add(attempt, in: place.mode)
            } catch {
                // The attempt is not seen in this mode; the next one, and the time limit, go on.
            }
        }
    }

    private func ended(_ number: Int, _ outcome: SocketConnector.Outcome) {
        switch outcome {
        case .success(let socket): end(with: .success(socket))
        case .failure(let error):
            state.withLock { race.fail(number, error) }
            beginNext()
        }
    }

    private func timeIsOver() {
        let (stage, attempts) = (lookup?.stage ?? .connecting, state.withLock { race.attempts })
        end(with: .failure(RunLoop.HostError(host, .tookTooLong(timeLimit, stage), attempts: attempts)))
    }

    override func refused(_ error: RunLoop.SystemCallError) {
        end(with: .failure(RunLoop.HostError(host, .system(error))))
    }

    override func giveUp() {
        let (handler, attempts) = state.withLock { () -> (Handler?, [SocketConnector]) in
            defer { (self.handler, self.attempts, found, places) = (nil, [], nil, []) }
            return (self.handler, self.attempts)
        }
        lookup?.cancel()
        nextTimer?.invalidate()
        limitTimer?.invalidate()
        for attempt in attempts { attempt.invalidate() }
        withExtendedLifetime(handler) {}
    }
}
