// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

package import Glibc
import RunLoopsTestSupport
package import Testing

/// A program on a terminal of its own, whose keys a test presses and whose screen the test reads.
///
/// One thread at a time.
package final class PseudoTerminal {
    /// How a program has ended.
    package enum End: Equatable {
        case status(CInt)
        case signal(CInt)
    }

    package let process: pid_t
    // TIOCSPTLCK, TIOCGPTN and POSIX_SPAWN_SETSID, which Swift does not import.
    private static let unlock: UInt = 0x4004_5431
    private static let getNumber: UInt = 0x8004_5430
    private static let ownSession: Int16 = 0x80
    package private(set) var screen: ScreenModel
    /// How many bytes the program has written.
    package private(set) var written = 0
    /// What was written since the alternate screen was left.
    package var shell: String { String(decoding: sinceMain, as: UTF8.self) }
    private var sinceMain: [UInt8] = []
    private var lastBytes: [UInt8] = []
    /// How many titles the program has put on the terminal's stack and not taken from it.
    package private(set) var savedTitles = 0
    private var titleTail: [UInt8] = []
    /// The terminal's settings before the program began.
    package let before: termios
    /// What is answered to the question which device this is.
    package var answers = ""
    private var master: CInt
    /// Kept open: a terminal that nobody has open forgets its settings.
    package private(set) var slave: CInt
    private var end: End?

    /// Starts a program, as a session of its own, on a new terminal.
    ///
    /// - Parameters:
    ///   - line: The program's path and its arguments.
    ///   - answers: What is answered to the question which device this is.
    package init(
        _ line: [String], columns: UInt16, rows: UInt16, term: String = "xterm-256color", environment: [String],
        answers: String = "\u{1B}[?62;22c"
    ) throws {
        self.answers = answers
        master = open("/dev/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC)
        var (number, isLocked): (CUnsignedInt, CInt) = (0, 0)
        try #require(ioctl(master, Self.unlock, &isLocked) == 0 && ioctl(master, Self.getNumber, &number) == 0)
        let name = "/dev/pts/\(number)"
        slave = open(name, O_RDWR | O_NOCTTY | O_CLOEXEC)
        var size = winsize(ws_row: rows, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0)
        try #require(ioctl(master, UInt(TIOCSWINSZ), &size) == 0)
        before = try Self.settings(slave)
        // No program writes to places that no screen has.
        screen = ScreenModel(width: min(Int(columns), 1000), height: min(Int(rows), 400))

        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        posix_spawnattr_setflags(&attributes, Self.ownSession | Int16(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF))
        var none = sigset_t()
        sigemptyset(&none)
        posix_spawnattr_setsigmask(&attributes, &none)
        // A shell ignores SIGINT and SIGQUIT in its background jobs, from one of which the tests may run.
        var all = sigset_t()
        sigfillset(&all)
        posix_spawnattr_setsigdefault(&attributes, &all)
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        // The first terminal that the leader of a session opens becomes that session's terminal.
        posix_spawn_file_actions_addopen(&actions, 0, name, O_RDWR, 0)
        posix_spawn_file_actions_adddup2(&actions, 0, 1)
        posix_spawn_file_actions_adddup2(&actions, 0, 2)

        let variables =
            ["PATH=/usr/bin:/bin", "TERM=\(term)", "LANG=C.UTF-8", "SWIFT_BACKTRACE=enable=no", "PS1=", "HISTFILE="]
            + Self.sanitizerOptions + environment
        let arguments = Self.copies(line)
        let values = Self.copies(variables)
        defer { for pointer in arguments + values { free(pointer) } }
        var child: pid_t = 0
        try #require(posix_spawn(&child, line[0], &actions, &attributes, arguments + [nil], values + [nil]) == 0)
        process = child
    }

    /// The options that the environment of the tests gives to sanitizers, such as the list of leaks to pass over.
    ///
    /// The signals of faults belong to the program here: a sanitizer that takes them would end it in its own way. What
    /// was freed is kept back in small amounts only, since tests look at the memory.
    private static let sanitizerOptions: [String] = ["ASAN_OPTIONS", "LSAN_OPTIONS", "TSAN_OPTIONS"].map { name in
        let given = getenv(name).map { String(cString: $0) + ":" } ?? ""
        let signals = ["segv", "sigbus", "sigfpe", "sigill", "sigtrap", "abort"].map { "handle_\($0)=0" }
        let memory = name == "ASAN_OPTIONS" ? ["quarantine_size_mb=1", "thread_local_quarantine_size_kb=64"] : []
        return "\(name)=\(given)\((signals + memory).joined(separator: ":"))"
    }

    private static func copies(_ texts: [String]) -> [UnsafeMutablePointer<CChar>?] { texts.map { strdup($0) } }

    deinit {
        if end == nil {
            kill(process, SIGKILL)
            kill(-process, SIGKILL)
            waitpid(process, nil, 0)
        }
        if master >= 0 { hangUp() }
    }

    /// The settings of the terminal now.
    package var now: termios { get throws { try Self.settings(slave) } }

    private static func settings(_ descriptor: CInt) throws -> termios {
        var settings = termios()
        try #require(tcgetattr(descriptor, &settings) == 0)
        return settings
    }

    /// The job that has the terminal now.
    package var foreground: pid_t { tcgetpgrp(master) }

    // MARK: The user

    /// Sends bytes, as a terminal does; reads what comes meanwhile.
    package func send(_ text: String) { send(Array(text.utf8)) }

    package func send(_ bytes: [UInt8], isReading: Bool = true) {
        _ = fcntl(master, F_SETFL, fcntl(master, F_GETFL) | O_NONBLOCK)
        var rest = bytes[...]
        let limit = ContinuousClock.now + plenty
        while !rest.isEmpty, ContinuousClock.now < limit {
            let count = rest.withUnsafeBytes { write(master, $0.baseAddress, min($0.count, 4096)) }
            if count > 0 {
                rest = rest.dropFirst(count)
                if isReading { _ = read(waiting: 0) }
            } else {
                var ready = pollfd(fd: master, events: Int16(POLLOUT | (isReading ? POLLIN : 0)), revents: 0)
                _ = poll(&ready, 1, 20)
                if isReading { _ = read(waiting: 0) }
            }
        }
    }

    /// Changes the window's size, as a user does with the mouse.
    package func resize(columns: Int, rows: Int) {
        var size = winsize(ws_row: UInt16(rows), ws_col: UInt16(columns), ws_xpixel: 0, ws_ypixel: 0)
        _ = ioctl(master, UInt(TIOCSWINSZ), &size)
    }

    /// A screen of another size from now on; what was shown is forgotten.
    package func useScreen(columns: Int, rows: Int) { screen = ScreenModel(width: columns, height: rows) }

    /// The terminal goes, as when its window is closed; nothing can be read any more.
    package func hangUp() {
        close(slave)
        close(master)
        (slave, master) = (-1, -1)
    }

    // MARK: Waiting

    /// Reads until the condition holds.
    package func wait(
        _ what: String, sourceLocation: SourceLocation = #_sourceLocation, until condition: (PseudoTerminal) -> Bool
    ) throws {
        let limit = ContinuousClock.now + plenty
        while !condition(self) {
            let hasCome = read(waiting: 20)
            if !hasCome, hasEnded || ContinuousClock.now > limit {
                while read(waiting: 0) {}
                if condition(self) { return }
                Issue.record(
                    "no \(what), \(end.map { "\($0)" } ?? state): \(screen.text)", sourceLocation: sourceLocation)
                throw Missing()
            }
        }
    }

    package func wait(for text: String, sourceLocation: SourceLocation = #_sourceLocation) throws {
        try wait(text, sourceLocation: sourceLocation) { $0.screen.text.contains(text) }
    }

    /// The program's state and its signals, as the kernel shows them.
    private var state: String {
        let lines = ["status", "syscall", "wchan"].map { file -> String in
            guard let stream = fopen("/proc/\(process)/\(file)", "r") else { return "no \(file)" }
            defer { fclose(stream) }
            var bytes = [CChar](repeating: 0, count: 4096)
            let count = fread(&bytes, 1, bytes.count, stream)
            return String(decoding: bytes[..<count].map { UInt8(bitPattern: $0) }, as: UTF8.self)
        }
        let status = lines[0].split(separator: "\n").filter { line in
            ["State:", "SigPnd:", "ShdPnd:", "SigBlk:", "SigIgn:", "SigCgt:"].contains { line.hasPrefix($0) }
        }
        return "not ended (\(status.joined(separator: " ")) \(lines[1]) \(lines[2]))"
    }

    /// What a test waited for did not come: the test is over.
    private struct Missing: Error {}

    /// Reads until the program has ended.
    package func waitForEnd() -> End? {
        let limit = ContinuousClock.now + plenty
        while !hasEnded, ContinuousClock.now < limit { _ = read(waiting: 20) }
        while read(waiting: 0) {}
        return end
    }

    /// Whether the program has not ended.
    package var isRunning: Bool { !hasEnded }

    private var hasEnded: Bool {
        if end != nil { return true }
        var status: CInt = 0
        guard waitpid(process, &status, WNOHANG) == process else { return false }
        let signal = status & 0x7F
        end = signal == 0 ? .status(status >> 8 & 0xFF) : .signal(signal)
        return true
    }

    /// Takes what there is; whether there was something.
    @discardableResult
    package func read(waiting limit: CInt) -> Bool {
        var ready = pollfd(fd: master, events: Int16(POLLIN), revents: 0)
        guard poll(&ready, 1, limit) > 0, master >= 0 else { return false }
        var buffer = [UInt8](repeating: 0, count: 1 << 16)
        let count = Glibc.read(master, &buffer, buffer.count)
        guard count > 0 else { return false }
        let bytes = buffer[..<count]
        written += count
        show(bytes)
        countTitles(bytes)
        let question = Array("\u{1B}[c".utf8)
        lastBytes = (lastBytes + bytes).suffix(count + 2)
        if !answers.isEmpty, lastBytes.indices.contains(where: { lastBytes[$0...].starts(with: question) }) {
            lastBytes = []
            let text = answers
            answers = ""
            send(Array(text.utf8), isReading: false)
        }
        return true
    }

    private func countTitles(_ bytes: ArraySlice<UInt8>) {
        let all = titleTail + bytes
        let (push, pop) = (Array("\u{1B}[22;0t".utf8), Array("\u{1B}[23;0t".utf8))
        for index in all.indices where all[index] == 0x1B {
            if all[index...].starts(with: push) { savedTitles += 1 }
            // A terminal passes over a pop from the empty stack, which a fault before the first sequence causes.
            if all[index...].starts(with: pop) { savedTitles = max(0, savedTitles - 1) }
        }
        // One byte less than a sequence.
        titleTail = all.suffix(6)
    }

    /// Whether the alternate screen was shown, and is not shown now: what comes then is the shell's.
    private var isShell: Bool { screen.everSet.contains(1049) && !screen.modes.contains(1049) }

    private func show(_ bytes: ArraySlice<UInt8>) {
        func place(of mode: String, in bytes: ArraySlice<UInt8>) -> Int? {
            let sequence = Array("\u{1B}[?1049\(mode)".utf8)
            return bytes.indices.first { bytes[$0] == 0x1B && bytes[$0...].starts(with: sequence) }
        }
        var rest = bytes
        while !rest.isEmpty {
            if isShell {
                sinceMain += rest
                guard let start = place(of: "h", in: sinceMain[...]) else { return }
                rest = sinceMain[start...]
            }
            let end = place(of: "l", in: rest).map { $0 + 8 } ?? rest.endIndex
            screen.feed(rest[..<end])
            rest = rest[end...]
            if isShell { sinceMain = [] }
        }
    }
}

extension termios {
    /// What a program could have left changed.
    package var flags: [tcflag_t] { [c_iflag, c_oflag, c_cflag, c_lflag] }
}
