// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import CLinuxKernel

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// A program that is run to its end, on this one's terminal.
enum ChildProgram {
    /// How long it may take to end after SIGTERM.
    private static let grace: Duration = .seconds(5)

    /// Its exit status, as a shell would put it.
    ///
    /// - Parameters:
    ///   - environment: Set besides what this program has itself.
    ///   - limit: After how long it gets SIGTERM, and a little later SIGKILL; `nil` for never.
    static func run(_ command: [String], environment: [String: String], limit: Duration? = nil) throws -> CInt {
        for (name, value) in environment { setenv(name, value, 1) }
        // Control-C is the program's to answer: this one waits for what it leaves. The child gets the old answer back.
        var old = sigaction()
        var ignoring = sigaction()
        ignoring.__sigaction_handler.sa_handler = SIG_IGN
        sigaction(SIGINT, &ignoring, &old)
        defer { sigaction(SIGINT, &old, nil) }
        let process = try start(command)
        if let limit { try end(process, after: limit, command[0]) }
        var status: CInt = 0
        while waitpid(process, &status, 0) < 0 {
            if errno != EINTR { throw CommandEnd.failure("\(command[0]): \(reason(errno))") }
        }
        let signal = status & 0x7F
        return signal != 0 ? 128 + signal : status >> 8 & 0xFF
    }

    private static func start(_ command: [String]) throws -> pid_t {
        var arguments: [UnsafeMutablePointer<CChar>?] = command.map { strdup($0) } + [nil]
        defer { for argument in arguments { free(argument) } }
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        var interrupts = sigset_t()
        sigemptyset(&interrupts)
        sigaddset(&interrupts, SIGINT)
        posix_spawnattr_setsigdefault(&attributes, &interrupts)
        posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGDEF))
        var process: pid_t = 0
        let code = posix_spawnp(&process, command[0], nil, &attributes, &arguments, environ)
        if code != 0 { throw CommandEnd.failure("\(command[0]): \(reason(code))") }
        return process
    }

    /// Returns when the program has ended, which it does one way or the other.
    private static func end(_ process: pid_t, after limit: Duration, _ name: String) throws {
        let descriptor = rl_pidfd_open(process)
        guard descriptor >= 0 else { throw CommandEnd.failure("\(name): \(reason(-descriptor))") }
        defer { close(descriptor) }
        if hasEnded(descriptor, within: limit) { return }
        kill(process, SIGTERM)
        if hasEnded(descriptor, within: grace) { return }
        kill(process, SIGKILL)
    }

    private static func hasEnded(_ descriptor: CInt, within limit: Duration) -> Bool {
        let clock = ContinuousClock()
        let end = clock.now + limit
        var wanted = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        while true {
            let left = max(.zero, end - clock.now).components
            let milliseconds = min(left.seconds, 86_400) * 1000 + left.attoseconds / 1_000_000_000_000_000 + 1
            if poll(&wanted, 1, CInt(milliseconds)) > 0 { return true }
            if clock.now >= end { return false }
        }
    }
}
