import Glibc
import RunLoops
import RunLoopsEvents
import Testing

/// A limit that only a bug reaches: the run then ends as `timedOut`, and the test says so instead of hanging.
let plenty = Duration.seconds(30)

/// Counts are small by default, and those asked for when the environment says so.
let isFull = getenv("RUNLOOPS_FULL") != nil

/// Whether the tests were built with the thread sanitizer, as the runtime in the process tells.
let isThreadSanitized = dlsym(nil, "__tsan_init") != nil

extension RunLoop {
    /// Runs until it is stopped, or has nothing left, or plenty of time has gone by.
    func runPlenty(_ mode: Mode = .default) -> RunResult { run(mode: mode, for: plenty) }
}

/// Adds a source where a refusal means a broken test.
func add(_ source: EventSource, to loop: RunLoop, in mode: RunLoop.Mode = .default) {
    do { try loop.add(source, in: mode) } catch { Issue.record("not added: \(error)") }
}

/// A thread of the test's own: loops belong to threads, and those of the test runner never end.
final class LoopThread: @unchecked Sendable {
    private final class Body {
        let run: @Sendable () -> Void
        init(_ run: @escaping @Sendable () -> Void) { self.run = run }
    }

    private var handle = pthread_t()

    init(_ body: @escaping @Sendable () -> Void) {
        let argument = Unmanaged.passRetained(Body(body)).toOpaque()
        let result = pthread_create(
            &handle, nil,
            { argument in
                // SAFETY: the reference passed by init; taken once.
                let body = Unmanaged<Body>.fromOpaque(argument.unsafelyUnwrapped).takeRetainedValue()
                // A thread starts with the mask of its maker, here a worker of Dispatch, which blocks all signals.
                var none = sigset_t()
                sigemptyset(&none)
                pthread_sigmask(SIG_SETMASK, &none, nil)
                body.run()
                return nil
            }, argument)
        precondition(result == 0, "pthread_create: \(result)")
    }

    /// Waits until the thread has ended and its loop is torn down.
    func join() { pthread_join(handle, nil) }

    /// Sends a signal to this thread and no other.
    func signal(_ number: CInt) { pthread_kill(handle, number) }
}

/// Runs `body` with the loop of a new thread, to the thread's end, and returns what it returned.
@discardableResult
func withLoop<Result: Sendable>(_ body: @escaping @Sendable (RunLoop) throws -> Result) throws -> Result {
    let outcome = Locked<Swift.Result<Result, any Error>?>(nil)
    LoopThread {
        let result = Swift.Result { try body(RunLoop.current) }
        outcome.withLock { $0 = result }
    }.join()
    guard let result = outcome.withLock({ $0 }) else { preconditionFailure("the thread has left its result") }
    return try result.get()
}

/// A value that several threads use, one at a time.
final class Locked<Value>: @unchecked Sendable {
    private let lock = Lock()
    private var value: Value

    init(_ value: Value) { self.value = value }

    func withLock<Result>(_ body: (inout Value) -> Result) -> Result { lock.withLock { body(&value) } }
}

extension Locked where Value == Int {
    func increment() { withLock { $0 += 1 } }
    var count: Int { withLock { $0 } }
}

/// One value that closures of one thread share.
final class Box<Value> {
    var value: Value
    init(_ value: Value) { self.value = value }
}

/// A number of permits to wait for.
final class Semaphore: @unchecked Sendable {
    // On the heap: a semaphore must not move.
    private let semaphore: UnsafeMutablePointer<sem_t>

    init() {
        semaphore = .allocate(capacity: 1)
        sem_init(semaphore, 0, 0)
    }

    deinit {
        sem_destroy(semaphore)
        semaphore.deallocate()
    }

    func signal() { sem_post(semaphore) }

    func wait() {
        // EINTR: a signal handler ran.
        while sem_wait(semaphore) != 0 {}
    }
}

/// Sees whether an object is gone.
final class Witness: @unchecked Sendable {
    private let lock = Lock()
    private weak var object: AnyObject?

    func watch(_ object: AnyObject) { lock.withLock { self.object = object } }
    var isGone: Bool { lock.withLock { object == nil } }
}

/// What a process wrote before it ended: a trap's text.
func expectText(_ result: ExitTest.Result?, _ text: String, sourceLocation: SourceLocation = #_sourceLocation) {
    guard let result else { return }
    let said = String(decoding: result.standardErrorContent, as: UTF8.self)
    #expect(said.contains(text), "said: \(said)", sourceLocation: sourceLocation)
}
