// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

// The operations that a Swift peer implements, so that each workload is written once.
//
// The workloads are generic and inlinable: each peer's executable compiles them for its own type, so that no peer pays
// for being measured.

/// What a loop is to call.
///
/// Workloads hand over values and not closures, so that a peer makes the one closure that its own API takes. That
/// closure captures the value's words, as a user's closure captures something: an empty one would cost no allocation
/// and flatter.
public protocol Callback: Sendable {
    func callAsFunction()
}

/// The callback of a timer that is due in a minute or more, or of a descriptor that is never written.
///
/// It captures two words.
@usableFromInline
struct NeverCalled: Callback, @unchecked Sendable {
    @usableFromInline let number: Int
    @usableFromInline let loop: Unmanaged<AnyObject>

    @inlinable
    init(number: Int, of loop: AnyObject) {
        self.number = number
        self.loop = .passUnretained(loop)
    }

    @inlinable
    func callAsFunction() { fatalError("Timer or descriptor \(number) of \(loop.toOpaque()) was called too early.") }
}

/// A loop that runs on a thread of its own until the process ends.
public protocol Peer: AnyObject, Sendable {
    associatedtype Timer
    /// What names a timer that is made by ``delay(_:_:)``.
    associatedtype Delayed
    associatedtype Wake: Sendable
    associatedtype Again
    associatedtype Watch

    /// Whether callbacks of ``watch(_:_:)`` find the byte already read.
    static var readsItself: Bool { get }

    /// A loop that is running when this returns, on `cpu` (nil: wherever the kernel puts it).
    init(cpu: Int32?)

    /// W10: makes a loop, on the main thread if it can be had there, lets a timer of 1 ms fire and returns.
    static func start()

    /// Runs `body` once on the loop's thread.
    func enter(_ body: @escaping @Sendable () -> Void)

    /// A callback that other threads ask for, and what asks for it.
    func makeWake(_ body: some Callback) -> Wake
    func send(_ wake: Wake)

    /// Has `body` run by the loop, woken for it if it sleeps. Any thread.
    func post(_ body: some Callback)
    /// The same from the loop's own thread, which is awake. `isLast` ends a batch: the next turn is to come at once.
    func postHere(isLast: Bool, _ body: some Callback)

    /// A callback that asks, from inside itself, to be called again next turn.
    func makeAgain(_ body: some Callback) -> Again
    func ask(_ again: Again)

    /// Timers, all on the loop's thread. `delay`, `interval` and `tolerance` in nanoseconds; `due` on CLOCK_MONOTONIC.
    func timer(in delay: Int64, _ body: some Callback) -> Timer
    func timer(at due: Int64, tolerance: Int64, _ body: some Callback) -> Timer
    func timer(every interval: Int64, _ body: some Callback) -> Timer
    func cancel(_ timer: Timer)
    /// Gives a timer that has not fired another date. A peer that cannot do that is skipped.
    func restart(_ timer: Timer, in delay: Int64)

    /// The lightest way to have something called once in `delay` nanoseconds, and to take that back.
    func delay(_ delay: Int64, _ body: some Callback) -> Delayed
    func cancel(delayed: Delayed)

    /// Calls `body` when `descriptor` can be read.
    func watch(_ descriptor: Int32, _ body: some Callback) -> Watch
}

/// Most loops know one kind of timer, which is then the lightest too.
extension Peer where Delayed == Timer {
    @inlinable
    public func delay(_ delay: Int64, _ body: some Callback) -> Timer { timer(in: delay, body) }
    @inlinable
    public func cancel(delayed: Timer) { cancel(delayed) }
}

/// State of one thread; the callbacks of one loop all run on one thread.
public final class Confined<Value>: @unchecked Sendable {
    public var value: Value

    public init(_ value: Value) { self.value = value }
}
