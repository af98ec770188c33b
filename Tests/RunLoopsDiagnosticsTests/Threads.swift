import Glibc
import RunLoops

/// A thread of the test's own, with an end one can wait for.
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
                Unmanaged<Body>.fromOpaque(argument.unsafelyUnwrapped).takeRetainedValue().run()
                return nil
            }, argument)
        precondition(result == 0, "pthread_create: \(result)")
    }

    func join() { pthread_join(handle, nil) }

    /// Runs `body` on a thread of its own, with a loop of its own, to the thread's end.
    static func run<Result: Sendable>(_ body: @escaping @Sendable () -> Result) -> Result {
        let box = Shared<Result?>(nil)
        TestThread { box.set(body()) }.join()
        guard let result = box.value else { preconditionFailure("the thread has left its result") }
        return result
    }
}

/// A value that several threads use.
final class Shared<Value: Sendable>: @unchecked Sendable {
    private let lock = Lock()
    @exclusivity(unchecked) private var stored: Value

    init(_ value: Value) { stored = value }

    var value: Value { lock.withLock { stored } }
    func set(_ value: Value) { lock.withLock { stored = value } }
}
