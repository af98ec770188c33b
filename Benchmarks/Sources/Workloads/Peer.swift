// What a Swift peer brings, so that each workload is written once.
//
// The workloads are generic and inlinable: each peer's executable compiles them for its own type, so that no peer pays
// for being measured.

/// A loop that runs on a thread of its own until the process ends.
public protocol Peer: AnyObject, Sendable {
    associatedtype Timer
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
    func makeWake(_ body: @escaping @Sendable () -> Void) -> Wake
    func send(_ wake: Wake)

    /// Has `body` run by the loop, woken for it if it sleeps. Any thread.
    func post(_ body: @escaping @Sendable () -> Void)
    /// The same from the loop's own thread, which is awake. `isLast` ends a batch: the next turn is to come at once.
    func postHere(isLast: Bool, _ body: @escaping @Sendable () -> Void)

    /// A callback that asks, from inside itself, to be called again next turn.
    func makeAgain(_ body: @escaping @Sendable () -> Void) -> Again
    func ask(_ again: Again)

    /// Timers, all on the loop's thread. `delay`, `interval` and `tolerance` in nanoseconds; `due` on CLOCK_MONOTONIC.
    func timer(in delay: Int64, _ body: @escaping @Sendable () -> Void) -> Timer
    func timer(at due: Int64, tolerance: Int64, _ body: @escaping @Sendable () -> Void) -> Timer
    func timer(every interval: Int64, _ body: @escaping @Sendable () -> Void) -> Timer
    func cancel(_ timer: Timer)

    /// Calls `body` when `descriptor` can be read.
    func watch(_ descriptor: Int32, _ body: @escaping @Sendable () -> Void) -> Watch
}

/// State that one thread has to itself, which is what the callbacks of one loop amount to.
public final class Confined<Value>: @unchecked Sendable {
    public var value: Value

    public init(_ value: Value) { self.value = value }
}
