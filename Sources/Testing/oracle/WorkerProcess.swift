// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import OracleScenarios

/// A worker as its parent sees it: the process, the pipe with its output, and the scenario that it runs.
struct WorkerProcess {
    let range: Range<Int>
    let process: pid_t
    /// The reading end of the pipe with the worker's output.
    let output: CInt
    /// The temporary file that receives the worker's standard error.
    let errors: CInt
    private var unread: [UInt8] = []
    /// The last scenario that the worker has begun.
    var current: Int
    var hasEnded = false

    init(_ range: Range<Int>, seed: UInt64, subject: Subject, shrinks: Int) throws {
        self.range = range
        current = range.lowerBound
        var ends: [CInt] = [0, 0]
        guard pipe(&ends) == 0 else { throw WorkerFailure(call: "pipe", code: errno) }
        // Another worker must not inherit the end that is written to: its parent would never see it close.
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        defer { close(ends[1]) }
        output = ends[0]
        errors = try Self.temporaryFile()
        let arguments = [
            "oracle", "--worker", "--seed", "\(seed)", "--first", "\(range.lowerBound)",
            "--scenarios", "\(range.count)", "--print", "\(shrinks)",
            "--subject", subject.rawValue,
        ]
        process = try Self.spawn(arguments, output: ends[1], errors: errors)
    }

    /// Reads the available output and calls `body` with each whole line; returns `false` at the end of the output.
    mutating func read(_ body: (WorkerLine) -> Void) -> Bool {
        var buffer = [UInt8](repeating: 0, count: 65_536)
        let count = Glibc.read(output, &buffer, buffer.count)
        if count < 0, errno == EINTR { return true }
        guard count > 0 else { return false }
        unread += buffer[..<count]
        while let end = unread.firstIndex(of: UInt8(ascii: "\n")) {
            let line = WorkerLine(Substring(decoding: unread[..<end], as: UTF8.self))
            unread.removeSubrange(...end)
            guard let line else { continue }
            switch line {
            case .started(let number): current = number
            case .ended: hasEnded = true
            default: break
            }
            body(line)
        }
        return true
    }

    func kill() {
        _ = Glibc.kill(process, SIGKILL)
    }

    /// Waits for the end of the process, and returns its exit status or signal and its error output.
    func finish() -> String {
        var status: CInt = 0
        while waitpid(process, &status, 0) < 0, errno == EINTR {}
        var buffer = [UInt8](repeating: 0, count: 4_000)
        let count = max(0, pread(errors, &buffer, buffer.count, 0))
        close(output)
        close(errors)
        let signal = status & 0x7F
        let ending = signal == 0 ? "exit status \((status >> 8) & 0xFF)" : "signal \(signal)"
        return ending + "\n" + String(decoding: buffer[..<count], as: UTF8.self)
    }

    private static func temporaryFile() throws -> CInt {
        // O_TMPFILE, which Swift does not import: a bit, and O_DIRECTORY, whose value depends on the machine.
        let descriptor = open("/tmp", O_RDWR | O_CLOEXEC | O_DIRECTORY | 0o20_000_000, 0o600)
        guard descriptor >= 0 else { throw WorkerFailure(call: "open", code: errno) }
        return descriptor
    }

    private static func spawn(_ arguments: [String], output: CInt, errors: CInt) throws -> pid_t {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO)
        posix_spawn_file_actions_adddup2(&actions, errors, STDERR_FILENO)
        var pointers: [UnsafeMutablePointer<CChar>?] = arguments.map { strdup($0) }
        pointers.append(nil)
        defer { for pointer in pointers { free(pointer) } }
        var process = pid_t()
        let result = posix_spawn(&process, "/proc/self/exe", &actions, nil, pointers, environ)
        guard result == 0 else { throw WorkerFailure(call: "posix_spawn", code: result) }
        return process
    }
}

/// The error of a system call that was needed to start a worker.
struct WorkerFailure: Error, CustomStringConvertible {
    let call: String
    let code: CInt

    var description: String { "\(call) failed: \(String(cString: strerror(code)))" }
}
