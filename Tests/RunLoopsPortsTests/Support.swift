import Glibc
import RunLoops
import Testing

@testable import RunLoopsPorts

/// A limit that only a bug reaches.
let plenty = Duration.seconds(30)

/// Whether everything runs as often as it was asked for, and not only often enough to notice.
let runsInFull = getenv("RUNLOOPS_FULL") != nil

func count(_ full: Int, orElse few: Int) -> Int { runsInFull ? full : few }

/// A thread of the test's own, with an end one can wait for.
final class TestThread: @unchecked Sendable {
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
                Unmanaged<Body>.fromOpaque(argument.unsafelyUnwrapped).takeRetainedValue().run()
                return nil
            }, argument)
        precondition(result == 0, "pthread_create: \(result)")
    }

    func join() { pthread_join(handle, nil) }

    /// Runs `body` on a thread of its own to the thread's end, and returns what it returned.
    @discardableResult
    static func run<Result: Sendable>(_ body: @escaping @Sendable () throws -> Result) throws -> Result {
        let box = Locked<Swift.Result<Result, any Error>?>(nil)
        TestThread {
            let result = Swift.Result { try body() }
            box.withLock { $0 = result }
        }.join()
        return try #require(box.withLock { $0 }).get()
    }
}

/// A value that several threads use, one at a time.
final class Locked<Value>: @unchecked Sendable {
    private let lock = Lock()
    private var value: Value

    init(_ value: Value) { self.value = value }

    func withLock<Result>(_ body: (inout Value) -> Result) -> Result { lock.withLock { body(&value) } }
}

/// A thread whose loop serves a port until the value is gone or stopped.
final class Server: @unchecked Sendable {
    let port: MessagePort
    private let thread: TestThread
    private let loop: RunLoop

    init(_ port: MessagePort) {
        self.port = port
        let started = Locked<RunLoop?>(nil)
        let permit = Permit()
        thread = TestThread {
            let loop = RunLoop.current
            do { try loop.add(port, in: .default) } catch { fatalError("\(error)") }
            started.withLock { $0 = loop }
            permit.signal()
            while port.isValid { loop.run(mode: .default, until: nil) }
        }
        permit.wait()
        guard let loop = started.withLock({ $0 }) else { fatalError("the thread has left its loop") }
        self.loop = loop
    }

    /// Ends the port, and waits for its thread.
    func end() {
        port.invalidate()
        loop.perform(wake: true) {}
        loop.stop()
        thread.join()
    }
}

/// A number of permits to wait for.
final class Permit: @unchecked Sendable {
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

    func wait() { while sem_wait(semaphore) != 0 {} }
}

/// The same numbers for the same seed, on every machine.
struct SeededRandom: RandomNumberGenerator {
    private var state: UInt64

    init(_ seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
        // SplitMix64, public domain, Sebastiano Vigna.
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}

/// A directory for names, gone with the value.
final class TestDirectory: Sendable {
    let ports: PortDirectory
    let path: String

    init() throws {
        var template = Array("/tmp/run-loops-ports-test-XXXXXX".utf8CString)
        let made = mkdtemp(&template)
        precondition(made != nil, "mkdtemp: errno \(errno)")
        path = template.withUnsafeBufferPointer { buffer in
            String(decoding: buffer.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
        }
        ports = try PortDirectory(making: path)
    }

    deinit {
        guard let directory = opendir(path) else { return }
        while let entry = readdir(directory) {
            withUnsafePointer(to: &entry.pointee.d_name) {
                $0.withMemoryRebound(to: CChar.self, capacity: 256) { _ = unlinkat(dirfd(directory), $0, 0) }
            }
        }
        closedir(directory)
        rmdir(path)
    }

    /// A sender that goes through a socket, although the port is in this process.
    func sender(_ name: String, owner: PortAccess = .sameUser) throws -> MessageSender {
        try MessageSender(named: name, in: ports, owner: owner, looksInProcess: false)
    }
}

/// How many descriptors the process has open.
///
/// Only where no other test runs: in an exit test.
func countOpenDescriptors() -> Int {
    guard let directory = opendir("/proc/self/fd") else { return -1 }
    defer { closedir(directory) }
    var count = 0
    while readdir(directory) != nil { count += 1 }
    return count
}

/// Allows as many descriptors as the system does.
func raiseDescriptorLimit() {
    var limit = rlimit()
    getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
    limit.rlim_cur = limit.rlim_max
    setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
}

/// Waits for what must happen, so that a bug shows up as a test that ends at its time limit.
func waitUntil(_ condition: () -> Bool) {
    while !condition() { usleep(200) }
}
