import Dispatch
import Glibc
import RunLoops
import RunLoopsKit
import RunLoopsTesting

/// A limit that only a bug reaches.
let plenty = Duration.seconds(30)

/// Whether the counts are those of the documentation, and not scaled down.
let isFull = getenv("RUNLOOPS_FULL").map { String(cString: $0) == "1" } ?? false

/// One value that closures of one thread share.
final class Box<Value> {
    var value: Value
    init(_ value: Value) { self.value = value }
}

/// A value that several threads use, one at a time.
final class Locked<Value>: @unchecked Sendable {
    private let lock = Lock()
    private var value: Value

    init(_ value: Value) { self.value = value }

    func withLock<Result>(_ body: (inout Value) -> Result) -> Result { lock.withLock { body(&value) } }
}

extension Locked where Value == [String] {
    convenience init() { self.init([]) }
    func note(_ text: String) { withLock { $0.append(text) } }
    var lines: [String] { withLock { $0 } }
}

extension Locked where Value == Int {
    convenience init() { self.init(0) }
    func increment() { withLock { $0 += 1 } }
    var count: Int { withLock { $0 } }
}

/// A signal between threads that only a bug keeps waiting.
final class Gate: Sendable {
    private let semaphore = DispatchSemaphore(value: 0)

    func open() { semaphore.signal() }

    func wait() { precondition(semaphore.wait(timeout: .now() + 30) == .success, "nobody has opened the gate") }
}

/// Something to see being released.
final class Token: Sendable {
    private let released: @Sendable () -> Void
    init(_ released: @escaping @Sendable () -> Void = {}) { self.released = released }
    deinit { released() }
}

/// Spins, politely, until another thread has made `condition` true.
func waitUntil(_ condition: () -> Bool) {
    while !condition() { usleep(200) }
}

/// A thread with a name, for a test that must not fail to get one.
func makeThread(_ name: String) -> RunLoopThread {
    do {
        return try RunLoopThread(name: name)
    } catch {
        preconditionFailure("no thread: \(error)")
    }
}

/// Keeps a loop from finishing, so that what wakes it is counted and nothing else.
func keepAlive(_ loop: RunLoop, in mode: RunLoop.Mode = .default) {
    loop.add(RunLoop.Source(label: "keeper") { _ in }, in: mode)
}

/// How often the loop wakes up in five seconds in which nothing is asked of it.
///
/// The sleep that the end of the time ends is not counted.
func idleWakeUps(_ manual: ManualRunLoop, in mode: RunLoop.Mode = .default) -> Int {
    let before = manual.sleeps
    manual.advance(by: .seconds(5), in: mode)
    return manual.sleeps - before - 1
}

extension ManualRunLoop {
    /// Lets time go by inside a callout, as work does that takes some.
    ///
    /// In a mode of its own, so that nothing else happens meanwhile.
    func pass(_ duration: Duration) { advance(by: duration, in: "nothing happens") }
}
