import Glibc
import RunLoops

/// Runs `body` on a thread of its own with a loop on the real kernel, built from the given parts, as that thread's own.
///
/// At the end the loop is torn down as at the end of a thread.
@discardableResult
func withRealLoop<Result: Sendable>(
    calls: any KernelCalls = LinuxCalls.shared, fineWait: FineWait = .nanosecondCall,
    _ body: @escaping @Sendable (RunLoop) -> Result
) -> Result {
    TestThread.run {
        let kernel = EpollKernel(calls: calls, fineWait: fineWait)
        let loop = RunLoop(engine: Engine(kernel: kernel, threadID: SystemCalls.threadID))
        let outer = ThreadLoopAccess.replace(with: loop)
        defer {
            loop.engine.threadEnds()
            ThreadLoopAccess.restore(outer)
        }
        return body(loop)
    }
}

/// A limit that only a bug reaches: the run then ends as `timedOut`, and the test says so instead of hanging.
let plenty = Duration.seconds(30)

extension RunLoop {
    /// Runs until it is stopped, or has nothing left, or plenty of time has gone by.
    func runPlenty(_ mode: Mode = .default, returnAfterSourceHandled: Bool = false) -> RunResult {
        run(mode: mode, for: plenty, returnAfterSourceHandled: returnAfterSourceHandled)
    }
}

/// A pipe or a pair of sockets, closed with the value's life.
///
/// The first end is for reading.
final class DescriptorPair: @unchecked Sendable {
    private(set) var first: CInt = -1
    private(set) var second: CInt = -1

    private init(_ make: (UnsafeMutablePointer<CInt>) -> CInt) {
        var ends: [CInt] = [-1, -1]
        let result = make(&ends)
        precondition(result == 0, "no descriptors: errno \(errno)")
        (first, second) = (ends[0], ends[1])
    }

    deinit {
        closeFirst()
        closeSecond()
    }

    static func pipe() -> DescriptorPair {
        DescriptorPair { ends in
            let result = Glibc.pipe(ends)
            for end in 0..<2 {
                _ = fcntl(ends[end], F_SETFL, O_NONBLOCK)
                _ = fcntl(ends[end], F_SETFD, FD_CLOEXEC)
            }
            return result
        }
    }

    static func sockets() -> DescriptorPair {
        let kind = CInt(SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue)
        return DescriptorPair { socketpair(AF_UNIX, kind, 0, $0) }
    }

    /// Writes into the second end.
    func send(_ text: String) {
        let written = text.withCString { Glibc.write(second, $0, strlen($0)) }
        precondition(written == text.utf8.count, "write: \(written), errno \(errno)")
    }

    func closeFirst() {
        if first >= 0 { _ = Glibc.close(first) }
        first = -1
    }

    func closeSecond() {
        if second >= 0 { _ = Glibc.close(second) }
        second = -1
    }
}

/// Reads what there is, up to 4096 bytes; nothing at the end of the stream and when there is nothing.
func readText(_ descriptor: CInt) -> String {
    let capacity = 4096
    let bytes = [UInt8](unsafeUninitializedCapacity: capacity) { buffer, count in
        count = max(0, Glibc.read(descriptor, buffer.baseAddress, capacity))
    }
    return String(decoding: bytes, as: UTF8.self)
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
