// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import CRunLoopsKernel
import RunLoopsLibC
import RunLoopsSystem

/// A program that is started and recorded, with this program's terminal, until it ends or for a limited time.
struct RecordedProgram {
    /// How long the program may take to start, and to end after SIGTERM.
    private static let grace = Duration.seconds(5)

    let command: [String]
    /// The time after which SIGTERM asks the program to end and its trace is written; `nil` for never.
    let length: Duration?
    /// Whether the program's output goes to standard error, so that standard output is free.
    var keepsOutputFree = false
    /// The number of events that are kept for each loop.
    var events = usualEvents
    /// When the program is taken to hang; `nil` for never.
    var patience: ProgramPatience?

    static let usualEvents = 65_536

    /// A program that has ended.
    struct Result {
        /// The trace; `nil` if the program hung and has left none.
        var json: String?
        /// The exit status as a shell reports it; 0 with a ``RecordedProgram/length``.
        var status: CInt
        /// How long the program ran.
        var time: Duration
        /// A sentence for each time that the program hung.
        var hangs: [String] = []
    }

    /// Runs the program to its end.
    func run() throws -> Result {
        let parent = ProcessEnvironment.value(of: "TMPDIR") ?? SystemText(prefixOf: "/tmp".utf8)
        // A folder of its own: nobody else has put a file there, neither a stranger nor an earlier program.
        let name = parent.entry(SystemText(prefixOf: "runloop-XXXXXX".utf8))
        var template = name.bytes.map { CChar(bitPattern: $0) } + [0]
        guard let folder = mkdtemp(&template).map({ SystemText(cString: $0) }) else {
            throw CommandFailure(parent.decoded, errno)
        }
        let file = folder.entry(SystemText(prefixOf: "trace.json".utf8))
        defer {
            _ = file.withCString { unlink($0) }
            _ = folder.withCString { rmdir($0) }
        }
        _ = file.withCString { setenv("RUNLOOP_TRACE", $0, 1) }
        if let length { setenv("RUNLOOP_TRACE_FOR", "\(length.milliseconds)", 1) }
        setenv("RUNLOOP_TRACE_EVENTS", "\(events)", 1)
        let start = ContinuousClock.now
        let (status, hangs) = try runToEnd()
        let time = ContinuousClock.now - start
        if file.withCString({ access($0, F_OK) }) == 0 {
            return Result(
                json: try TextFile.read(file), status: length == nil ? status : 0, time: time, hangs: hangs)
        }
        if !hangs.isEmpty { return Result(json: nil, status: status, time: time, hangs: hangs) }
        throw CommandFailure("\(command[0]) left no trace: it does not link RunLoopsDiagnostics, or it was killed")
    }

    private func runToEnd() throws -> (status: CInt, hangs: [String]) {
        // Control-C is the program's to answer: this one waits for what it leaves. The child gets the old answer back.
        let old = signal(SIGINT, SIG_IGN)
        defer { signal(SIGINT, old) }
        let process = try start()
        // The program ends itself. A program that does not end cannot be recorded, or hangs.
        if let length { try end(process, after: length + Self.grace) }
        let hangs = try patience.map { try $0.wait(for: process) } ?? []
        var status: CInt = 0
        while waitpid(process, &status, 0) < 0 {
            if errno != EINTR { throw CommandFailure(command[0], errno) }
        }
        let end = status & 0x7F
        return (end != 0 ? 128 + end : status >> 8 & 0xFF, hangs)
    }

    private func start() throws -> pid_t {
        let words = CommandWords.last(command)
        var arguments: [UnsafeMutablePointer<CChar>?] = words.map { $0.withCString { strdup($0) } } + [nil]
        defer { for argument in arguments { free(argument) } }
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        var interrupts = sigset_t()
        sigemptyset(&interrupts)
        sigaddset(&interrupts, SIGINT)
        posix_spawnattr_setsigdefault(&attributes, &interrupts)
        posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGDEF))
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        if keepsOutputFree { posix_spawn_file_actions_adddup2(&actions, STDERR_FILENO, STDOUT_FILENO) }
        var process: pid_t = 0
        let code = words[0].withCString { posix_spawnp(&process, $0, &actions, &attributes, &arguments, environ) }
        if code != 0 { throw CommandFailure(command[0], code) }
        return process
    }

    /// Waits for the program's end; sends SIGTERM after `limit`, and SIGKILL five seconds later.
    private func end(_ process: pid_t, after limit: Duration) throws {
        let descriptor = rl_pidfd_open(process)
        guard descriptor >= 0 else { throw CommandFailure(command[0], -descriptor) }
        defer { close(descriptor) }
        for (limit, signal) in [(limit, SIGTERM), (Self.grace, SIGKILL)] {
            let end = ContinuousClock.now + limit
            while case let left = ContinuousClock.now.duration(to: end), left > .zero {
                if rl_wait_readable(descriptor, CInt(clamping: left.milliseconds + 1)) > 0 { return }
            }
            kill(process, signal)
        }
    }
}
