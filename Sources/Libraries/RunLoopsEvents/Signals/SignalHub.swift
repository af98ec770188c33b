// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

internal import CRunLoopsKernel
internal import RunLoops

/// One eventfd for all sources of a signal whose closures run on one thread.
///
/// Every source adds the descriptor to its loop. The first source that is called takes the signals from the sink for all. The descriptor
/// stays readable while one of them has a signal left, so that each is called in the same turn. If a source is called and has none left,
/// the signals are those of sources in other modes or loops: the descriptor is emptied, and each of these sources is called by itself.
final class SignalHub: Sendable {
    private struct User {
        /// The oldest signals that the source has not taken.
        var records: [rl_signal_record] = []
        /// The number of further signals.
        var missed: UInt64 = 0
        var callback: @Sendable () -> Void = {}

        mutating func push(_ record: rl_signal_record) {
            if records.count < Int(RL_SIGNAL_ROOM) { records.append(record) } else { missed += 1 + record.missed }
        }

        mutating func pop() -> rl_signal_record? {
            guard !records.isEmpty else { return nil }
            var record = records.removeFirst()
            record.missed += missed
            missed = 0
            return record
        }
    }

    private struct State {
        var users: [Int: User] = [:]
        var lastUser = 0
        /// How many users have a signal left.
        var waiting = 0
        /// Whether the descriptor was emptied, and no signal was taken from the sink since.
        var isSilent = false
    }

    private struct Key: Hashable {
        var thread: Int32
        var signal: CInt
    }

    private struct WeakHub { weak var hub: SignalHub? }
    /// The hubs of this process, by the thread on which closures run (0 for closures that may run on any thread), and signal.
    private static let hubs = PerProcess { Guarded<[Key: WeakHub]>([:]) }

    private let sink: SignalSink
    private let state = Guarded(State())

    private init(_ sink: SignalSink) { self.sink = sink }

    /// Makes a user for a source of a signal whose closure runs on a thread.
    ///
    /// - Throws: What making a ``SignalSink`` throws.
    static func makeUser(for thread: Int32, _ signal: CInt) throws(RunLoop.SystemCallError) -> SignalUser {
        let key = Key(thread: thread, signal: signal)
        let made = hubs.own.withLock { hubs -> Result<SignalUser, RunLoop.SystemCallError> in
            if let hub = hubs[key]?.hub { return .success(hub.makeUser()) }
            do throws(RunLoop.SystemCallError) {
                let hub = SignalHub(try SignalSink(signal))
                hubs = hubs.filter { $0.value.hub != nil }
                hubs[key] = WeakHub(hub: hub)
                return .success(hub.makeUser())
            } catch {
                return .failure(error)
            }
        }
        return try made.get()
    }

    private func makeUser() -> SignalUser {
        let number = state.withLock { state in
            // The signals of before are those of the other sources. Without one they are the new source's: the handler is
            // installed, and nothing else receives them.
            if !state.users.isEmpty { drain(&state) }
            state.lastUser += 1
            state.users[state.lastUser] = User()
            return state.lastUser
        }
        return SignalUser(self, number)
    }

    /// Takes what is in the sink now for all users; with the lock held.
    private func drain(_ state: inout State) {
        for _ in 0..<RL_SIGNAL_ROOM {
            guard let record = sink.take() else { return }
            for number in Array(state.users.keys) { state.users[number]?.push(record) }
            (state.waiting, state.isSilent) = (state.users.count, false)
        }
    }

    // MARK: For one user

    fileprivate var file: Descriptor { sink.file }

    fileprivate func askDispatch() -> Bool { sink.askDispatch() }

    fileprivate func setCallback(of user: Int, _ callback: @escaping @Sendable () -> Void) {
        state.withLock { $0.users[user]?.callback = callback }
    }

    fileprivate func hasRecord(for user: Int) -> Bool {
        state.withLock { $0.users[user]?.records.isEmpty == false }
    }

    fileprivate func leave(_ user: Int) {
        state.withLock { state in
            if let left = state.users.removeValue(forKey: user), !left.records.isEmpty { state.waiting -= 1 }
        }
    }

    /// Returns the oldest record of the user, and calls the users that have records which the descriptor no longer reports;
    /// with no lock held.
    ///
    /// - Complexity: O(1); O(n) in the users after a new signal, and when the descriptor is emptied.
    fileprivate func take(for user: Int) -> rl_signal_record? {
        let (record, callbacks) = state.withLock { state -> (rl_signal_record?, [@Sendable () -> Void]) in
            drain(&state)
            let record = state.users[user]?.pop()
            if record != nil, state.users[user]?.records.isEmpty == true { state.waiting -= 1 }
            if record != nil, state.waiting > 0 {
                // The descriptor calls the users, or, if it is silent, each of them has been called, and goes on by itself.
                guard state.isSilent, let own = state.users[user], !own.records.isEmpty else { return (record, []) }
                return (record, [own.callback])
            }
            sink.silence()
            state.isSilent = true
            return (record, state.users.values.filter { !$0.records.isEmpty }.map(\.callback))
        }
        for callback in callbacks { callback() }
        return record
    }
}

/// The signals of one source, among those of its hub.
///
/// Thread safety: any thread.
final class SignalUser: Sendable {
    private let hub: SignalHub
    private let number: Int

    fileprivate init(_ hub: SignalHub, _ number: Int) { (self.hub, self.number) = (hub, number) }

    deinit { hub.leave(number) }

    /// The descriptor that is readable when a signal has come.
    var file: Descriptor { hub.file }

    /// Has libdispatch tell the hub of the signals, as ``SignalSink/askDispatch()`` says.
    func askDispatch() -> Bool { hub.askDispatch() }

    /// Sets what is called when the user has a signal that the descriptor no longer reports.
    func whenInformed(_ callback: @escaping @Sendable () -> Void) { hub.setCallback(of: number, callback) }

    /// Whether signals were taken from the sink that this user has not taken.
    var hasRecord: Bool { hub.hasRecord(for: number) }

    /// The oldest signal, if there is one.
    func take() -> rl_signal_record? { hub.take(for: number) }
}
