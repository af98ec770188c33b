import CLinuxKernel
import Glibc
import RunLoops

/// A pipe, closed with the value's life.
final class Pipe: @unchecked Sendable {
    private(set) var reading: CInt
    private(set) var writing: CInt

    init() {
        var ends: [CInt] = [-1, -1]
        // In one step: other tests start processes, which would keep an end open.
        let result = rl_pipe(&ends)
        precondition(result == 0, "no descriptors: \(result)")
        (reading, writing) = (ends[0], ends[1])
    }

    deinit {
        closeReading()
        closeWriting()
    }

    func send(_ text: String = "x") {
        let written = text.withCString { write(writing, $0, strlen($0)) }
        precondition(written == text.utf8.count, "write: \(written), errno \(errno)")
    }

    func closeReading() {
        if reading >= 0 { close(reading) }
        reading = -1
    }

    func closeWriting() {
        if writing >= 0 { close(writing) }
        writing = -1
    }
}

/// Reads what there is, up to 4096 bytes.
@discardableResult
func readText(_ descriptor: CInt) -> String {
    let capacity = 4096
    let bytes = [UInt8](unsafeUninitializedCapacity: capacity) { buffer, count in
        count = max(0, read(descriptor, buffer.baseAddress, capacity))
    }
    return String(decoding: bytes, as: UTF8.self)
}

/// How many descriptors the process has open; only where no other test runs: in an exit test.
func countOpenDescriptors() -> Int {
    guard let directory = opendir("/proc/self/fd") else { return -1 }
    defer { closedir(directory) }
    var count = 0
    while readdir(directory) != nil { count += 1 }
    return count
}

/// Lets the process have as many descriptors as it may: a thousand sources need more than the usual thousand.
func raiseDescriptorLimit() {
    var limit = rlimit()
    getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
    // Not past what the tests need: some systems allow a thousand million.
    limit.rlim_cur = min(limit.rlim_max, 20_000)
    setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
}

/// A directory of its own in the system's place for such, removed with all that is in it at the end of the value's life.
final class TemporaryDirectory: @unchecked Sendable {
    let path: String

    init() {
        var template = Array("/tmp/run-loops-events-XXXXXX".utf8CString)
        let made = template.withUnsafeMutableBufferPointer { mkdtemp($0.baseAddress.unsafelyUnwrapped) }
        guard made != nil else { preconditionFailure("mkdtemp: errno \(errno)") }
        path = template.withUnsafeBufferPointer { String(cString: $0.baseAddress.unsafelyUnwrapped) }
    }

    deinit { Self.remove(path) }

    func path(_ name: String) -> String { "\(path)/\(name)" }

    func makeDirectory(_ name: String) {
        precondition(mkdir(path(name), 0o700) == 0, "mkdir \(name): errno \(errno)")
    }

    /// Makes a file, or writes to the end of one.
    func write(_ name: String, _ text: String = "") {
        let file = open(path(name), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o600)
        precondition(file >= 0, "open \(name): errno \(errno)")
        _ = text.withCString { Glibc.write(file, $0, strlen($0)) }
        close(file)
    }

    func move(_ name: String, to other: String) {
        precondition(rename(path(name), other.hasPrefix("/") ? other : path(other)) == 0, "rename: errno \(errno)")
    }

    private static func remove(_ path: String) {
        if let directory = rl_directory_open(path) {
            var name = [CChar](repeating: 0, count: Int(RL_NAME_ROOM))
            var isDirectory = false
            while rl_directory_next(directory, &name, &isDirectory) > 0 {
                let entry = name.withUnsafeBufferPointer { String(cString: $0.baseAddress.unsafelyUnwrapped) }
                remove("\(path)/\(entry)")
            }
            rl_directory_close(directory)
        }
        Glibc.remove(path)
    }
}

/// A duplicate with a number that no other test gets, also when it is closed.
func duplicateFarAway(_ descriptor: CInt) -> CInt {
    raiseDescriptorLimit()
    var limit = rlimit()
    getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
    return fcntl(descriptor, F_DUPFD_CLOEXEC, CInt(limit.rlim_cur) - 10)
}
