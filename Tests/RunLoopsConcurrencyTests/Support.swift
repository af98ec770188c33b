import Glibc
import RunLoops
import RunLoopsConcurrency

/// A thread of the test's own, with an end one can wait for: loops belong to threads, and those of the test runner are
/// shared and never end.
///
/// Plain pthreads, which the thread sanitizer knows.
// Unchecked: the handle is written by init and read by join alone.
final class TestThread: @unchecked Sendable {
    private final class Body {
        let run: @Sendable () -> Void
        init(_ run: @escaping @Sendable () -> Void) { self.run = run }
    }

    private var handle = pthread_t()

    /// Starts at once.
    init(_ body: @escaping @Sendable () -> Void) {
        let argument = Unmanaged.passRetained(Body(body)).toOpaque()
        let result = pthread_create(
            &handle, nil,
            { argument in
                // SAFETY: the reference passed by init; taken once.
                let body = Unmanaged<Body>.fromOpaque(argument.unsafelyUnwrapped).takeRetainedValue()
                body.run()
                return nil
            }, argument)
        precondition(result == 0, "pthread_create: \(result)")
    }

    /// Waits until the thread has ended and its loop is torn down.
    func join() { pthread_join(handle, nil) }

    /// Runs `body` on a thread of its own to the thread's end, and returns what it returned.
    @discardableResult
    static func run<Result: Sendable>(_ body: @escaping @Sendable () -> Result) -> Result {
        let box = Locked<Result?>(nil)
        TestThread {
            let result = body()
            box.withLock { $0 = result }
        }.join()
        guard let result = box.withLock({ $0 }) else { preconditionFailure("the thread has left its result") }
        return result
    }
}

extension TestThread {
    /// The same, for what needs Swift's pool meanwhile: the test does not block a thread of it.
    static func running(_ body: @escaping @Sendable () -> Void) async {
        let thread = await withCheckedContinuation { continuation in
            let started = Locked<TestThread?>(nil)
            let thread = TestThread {
                body()
                // Waits for the reference, which is there in a moment.
                while started.withLock({ $0 == nil }) { usleep(100) }
                started.withLock { $0 }.map { continuation.resume(returning: $0) }
            }
            started.withLock { $0 = thread }
        }
        thread.join()
    }
}

/// A thread whose loop runs until it is told to end.
final class LoopThread: Sendable {
    let loop: RunLoop
    private let thread: TestThread
    private let keeper = RunLoop.Source.sendable { _ in }

    init() {
        let ready = Locked<RunLoop?>(nil)
        let isOver = Locked(false)
        let keeper = keeper
        thread = TestThread {
            let loop = RunLoop.current
            loop.add(keeper, in: .default)
            ready.withLock { $0 = loop }
            // A test may stop a run of its own.
            while !isOver.withLock({ $0 }) { _ = loop.run(mode: .default, for: plenty) }
        }
        while ready.withLock({ $0 == nil }) { usleep(100) }
        guard let loop = ready.withLock({ $0 }) else { preconditionFailure("just seen") }
        self.loop = loop
        over = isOver
    }

    private let over: Locked<Bool>

    /// Ends the run and the thread, and waits for that.
    func end() {
        over.withLock { $0 = true }
        loop.perform(wake: true) { RunLoop.current.stop() }
        thread.join()
    }

    /// Gives `body` the loop of such a thread, and ends the thread.
    @discardableResult
    static func with<Result>(_ body: (RunLoop) async throws -> Result) async rethrows -> Result {
        let thread = LoopThread()
        defer { thread.end() }
        return try await body(thread.loop)
    }
}

/// A limit that only a bug reaches.
let plenty = Duration.seconds(30)

/// A value that several threads use, one at a time.
// Unchecked: the lock makes it safe.
final class Locked<Value>: @unchecked Sendable {
    private let lock = Lock()
    private var value: Value

    init(_ value: Value) { self.value = value }

    func withLock<Result>(_ body: (inout Value) -> Result) -> Result {
        lock.withLock { body(&value) }
    }

    /// A copy.
    var copy: Value { withLock { $0 } }
}

extension Locked where Value == [String] {
    convenience init() { self.init([]) }
    func note(_ text: String) { withLock { $0.append(text) } }
}

extension Locked where Value == Int {
    convenience init() { self.init(0) }
    @discardableResult
    func increment() -> Int {
        withLock {
            $0 += 1
            return $0
        }
    }
}

/// What the tests were built with, as the runtime in the process tells.
enum Sanitizer {
    static var isThread: Bool { dlsym(nil, "__tsan_init") != nil }
    static var isAny: Bool { isThread || dlsym(nil, "__asan_init") != nil }
}

/// Whether the counts that take longer are asked for.
let isFull = getenv("RUNLOOPS_FULL") != nil
