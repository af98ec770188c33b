import Glibc
import RunLoops

/// A thread of the test's own, with an end one can wait for: loops belong to threads, and those of the test runner are
/// shared and never end.
///
/// Plain pthreads and semaphores, which the thread sanitizer knows.
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

/// A value that several threads use, one at a time.
final class Locked<Value>: @unchecked Sendable {
    private let lock = Lock()
    private var value: Value

    init(_ value: Value) { self.value = value }

    func withLock<Result>(_ body: (inout Value) -> Result) -> Result {
        lock.withLock { body(&value) }
    }
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

/// One value that closures of one thread share.
final class Box<Value> {
    var value: Value
    init(_ value: Value) { self.value = value }
}

/// Something to see being released.
final class Token: Sendable {}

/// Sees whether a token, or any object, is gone.
final class Witness: @unchecked Sendable {
    private let lock = Lock()
    private weak var object: AnyObject?

    /// A token that this watches.
    func makeToken() -> Token {
        let token = Token()
        watch(token)
        return token
    }

    func watch(_ object: AnyObject) { lock.withLock { self.object = object } }

    var isGone: Bool { lock.withLock { object == nil } }
}

/// Spins, politely, until another thread has made `condition` true.
///
/// Not to see whether something happens in time: only for what must happen, so that a bug shows up as a test that
/// hangs until its time limit.
func waitUntil(_ condition: () -> Bool) {
    while !condition() { usleep(200) }
}

/// What the tests were built with, as the runtime in the process tells.
enum Sanitizer {
    static var isThread: Bool { dlsym(nil, "__tsan_init") != nil }
    static var isAddress: Bool { dlsym(nil, "__asan_init") != nil }
}
