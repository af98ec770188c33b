// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

internal import CRunLoopsKernel
internal import RunLoops

/// One lookup of a host: waits for a thread, is under way on a thread, or has ended.
final class HostLookup: Sendable {
    typealias Result = Swift.Result<[RunLoop.SocketAddress], RunLoop.HostError.Reason>

    private struct State {
        var stage = RunLoop.HostError.Stage.waitingForThread
        /// `nil` when the result was delivered, and when the lookup was cancelled.
        var receive: (@Sendable (Result) -> Void)?
    }

    let host: RunLoop.HostAddress
    private let threads: LookupThreads
    private let state: Guarded<State>

    /// Begins a lookup.
    ///
    /// - Parameter receive: Called once with the result, by a thread of `threads`, or before this call returns. Not
    ///   called after ``cancel()``.
    init(of host: RunLoop.HostAddress, by threads: LookupThreads, _ receive: @escaping @Sendable (Result) -> Void) {
        self.host = host
        self.threads = threads
        state = Guarded(State(receive: receive))
        if let address = host.numeric { finish(.success([address])) } else { threads.add(self) }
    }

    /// Where the lookup is.
    var stage: RunLoop.HostError.Stage { state.withLock { $0.stage } }

    /// Drops the result; a lookup that waits for a thread leaves the line.
    ///
    /// Any thread.
    func cancel() {
        let receive = state.withLock { state in
            defer { state.receive = nil }
            return state.receive
        }
        if receive != nil { threads.remove(self) }
    }

    /// Looks up and waits; a thread of the pool.
    func run(_ lookUp: (RunLoop.HostAddress) -> Result) {
        state.withLock { $0.stage = .lookup }
        finish(lookUp(host))
    }

    func finish(_ result: Result) {
        let receive = state.withLock { state in
            state.stage = .connecting
            defer { state.receive = nil }
            return state.receive
        }
        receive?(result)
    }
}

/// The threads that wait for the system's resolver.
///
/// A thread is made when a lookup comes and fewer than `maxCount` threads are busy, and ends when no lookup waits: a
/// thread is made in some 30 µs, and a lookup takes longer. A resolver that hangs keeps its threads. When it has all of
/// them, further lookups wait in line, and leave it when they are cancelled.
final class LookupThreads: Sendable {
    static let shared = PerProcess { LookupThreads(maxCount: 8) { $0.lookUp() } }

    private struct State {
        var queue: [HostLookup] = []
        var threadCount = 0
    }

    private let maxCount: Int
    private let lookUp: @Sendable (RunLoop.HostAddress) -> HostLookup.Result
    private let state = Guarded(State())

    /// - Parameter lookUp: Waits for the addresses of a host; replaced by tests.
    init(maxCount: Int, _ lookUp: @escaping @Sendable (RunLoop.HostAddress) -> HostLookup.Result) {
        self.maxCount = maxCount
        self.lookUp = lookUp
    }

    var threadCount: Int { state.withLock { $0.threadCount } }
    var queueCount: Int { state.withLock { $0.queue.count } }

    func add(_ lookup: HostLookup) {
        let needsThread = state.withLock { state in
            state.queue.append(lookup)
            guard state.threadCount < maxCount else { return false }
            state.threadCount += 1
            return true
        }
        if needsThread { startThread() }
    }

    /// - Complexity: O(n) in the lookups that wait.
    func remove(_ lookup: HostLookup) {
        let removed = state.withLock { state in
            state.queue.firstIndex { $0 === lookup }.map { state.queue.remove(at: $0) }
        }
        withExtendedLifetime(removed) {}
    }

    private func startThread() {
        let threads = Unmanaged.passRetained(self)
        let code = rl_thread_start_detached(
            { argument in
                rl_become_helper("runloop-lookup")
                // SAFETY: the reference passed below; taken once.
                Unmanaged<LookupThreads>.fromOpaque(argument.unsafelyUnwrapped).takeRetainedValue().work()
                return nil
            }, threads.toOpaque())
        if code == 0 { return }
        threads.release()
        // Another thread takes the lookup, if there is one.
        let stranded = state.withLock { state -> [HostLookup] in
            state.threadCount -= 1
            guard state.threadCount == 0 else { return [] }
            defer { state.queue = [] }
            return state.queue
        }
        let error = RunLoop.SystemCallError(call: "pthread_create", code: -code)
        for lookup in stranded { lookup.finish(.failure(.system(error))) }
    }

    private func work() {
        while let lookup = state.withLock({ state -> HostLookup? in
            guard state.queue.isEmpty else { return state.queue.removeFirst() }
            state.threadCount -= 1
            return nil
        }) {
            lookup.run(lookUp)
        }
    }
}
