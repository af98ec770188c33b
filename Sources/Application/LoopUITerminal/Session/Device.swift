// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

internal import CTerminalRestore
internal import LinuxLibC
internal import LoopUI
internal import RunLoops

/// System calls on the terminal and on the standard descriptors.
enum Device {
    /// Opens what a standard descriptor is open on once more, or takes the same if that cannot be.
    ///
    /// A new description can be made non-blocking, and the shell's stays as it is. A regular file would be read from
    /// its beginning, and never blocks.
    ///
    /// - Throws: `EBADF` if the descriptor is closed, or is open on what is no stream of bytes: a descriptor of the system's
    ///   events may have the number of a stream that was closed when the program was started.
    static func reopen(_ descriptor: CInt, _ access: CInt) throws(RunLoop.SystemCallError) -> CInt {
        var status = stat()
        if fstat(descriptor, &status) != 0 { throw RunLoop.SystemCallError(call: "fstat", code: errno) }
        let kind = status.st_mode & S_IFMT
        let flags = fcntl(descriptor, F_GETFL)
        let isOpenFor = flags & O_ACCMODE == O_RDWR || flags & O_ACCMODE == access || access == O_RDWR
        // Events, timers and the like are of no kind.
        if ![S_IFCHR, S_IFREG, S_IFIFO, S_IFSOCK].contains(kind) || !isOpenFor {
            throw RunLoop.SystemCallError(call: "fstat", code: EBADF)
        }
        if kind == S_IFREG { return try duplicate(descriptor) }
        if let number = try open("/proc/self/fd/\(descriptor)", access) { return number }
        // A terminal of another user, as after su, can still be opened as the terminal of the process.
        if let own = try open("/dev/tty", access) {
            if terminalNumber(own).map({ $0 == terminalNumber(descriptor) }) == true { return own }
            close(own)
        }
        return try duplicate(descriptor)
    }

    /// Opens a file without waiting for it; `nil` if that cannot be.
    private static func open(_ path: String, _ access: CInt) throws(RunLoop.SystemCallError) -> CInt? {
        let number = LinuxLibC.open(path, access | O_NOCTTY | O_NONBLOCK | O_CLOEXEC)
        if number < 0 { return nil }
        if number > STDERR_FILENO { return number }
        defer { close(number) }
        return try duplicate(number)
    }

    /// The number of the device of a terminal: TIOCGDEV, which Swift does not import.
    private static func terminalNumber(_ descriptor: CInt) -> CUnsignedInt? {
        var number: CUnsignedInt = 0
        return ioctl(descriptor, 0x8004_5432 as UInt, &number) == 0 ? number : nil
    }

    static func duplicate(_ descriptor: CInt) throws(RunLoop.SystemCallError) -> CInt {
        let number = fcntl(descriptor, F_DUPFD_CLOEXEC, STDERR_FILENO + 1)
        if number < 0 { throw RunLoop.SystemCallError(call: "fcntl", code: errno) }
        return number
    }

    /// Opens the terminal of the process; the terminal on a descriptor if there is none.
    static func openTerminal(_ descriptor: CInt?) throws(RunLoop.SystemCallError) -> CInt {
        if descriptor == nil, let number = try open("/dev/tty", O_RDWR) { return number }
        return try reopen(descriptor ?? STDOUT_FILENO, O_RDWR)
    }

    /// Columns and rows, if the terminal knows them.
    static func size(_ descriptor: CInt) -> Size? {
        var size = winsize()
        guard ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0, size.ws_row > 0 else { return nil }
        return Size(Double(size.ws_col), Double(size.ws_row))
    }

    /// The size of a cell in pixels, if the terminal says its size in pixels too.
    static func cellSize(_ descriptor: CInt) -> Size? {
        var size = winsize()
        guard ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0, size.ws_row > 0 else { return nil }
        let (width, height) = (size.ws_xpixel / size.ws_col, size.ws_ypixel / size.ws_row)
        return width > 0 && height > 0 ? Size(Double(width), Double(height)) : nil
    }

    /// Makes the terminal raw, and has it given back with the bytes whatever ends the process.
    ///
    /// - Parameters:
    ///   - descriptor: The terminal.
    ///   - leaving: What undoes the modes that are set.
    ///   - keepsOutput: Whether output is processed as before, and standard output and standard error stay as they are.
    ///   - keepsSettings: Whether the settings of the terminal that were noted earlier are those to restore.
    static func take(
        _ descriptor: CInt, leaving: String, keepsOutput: Bool = false, keepsSettings: Bool = false
    ) throws(RunLoop.SystemCallError) {
        let bytes = Array(leaving.utf8)
        let result = ct_take(descriptor, keepsOutput ? 1 : 0, keepsSettings ? 1 : 0, bytes, bytes.count)
        if result < 0 { throw RunLoop.SystemCallError(call: "tcsetattr", code: -result) }
    }

    /// Restores the terminal and the standard streams, and shows what was printed meanwhile; never waits for long.
    static func giveBack() {
        ct_flush()
        ct_give_back()
    }

    /// Drops what was typed, or answered, and not read.
    static func discardInput(_ descriptor: CInt) { tcflush(descriptor, TCIFLUSH) }

    static func prepare(leaving: String) {
        let bytes = Array(leaving.utf8)
        ct_prepare(bytes, bytes.count)
    }

    /// Writes what the descriptor takes without waiting; the result of write(2).
    ///
    /// A description that could not be opened once more is shared with the shell, and stays blocking: it gets a piece as
    /// small as what poll(2) promises room for.
    static func send(_ bytes: [UInt8], to descriptor: CInt, isBlocking: Bool) -> Int {
        if !isBlocking { return bytes.withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) } }
        var ready = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
        guard poll(&ready, 1, 0) > 0 else {
            errno = EAGAIN
            return -1
        }
        return bytes.withUnsafeBytes { write(descriptor, $0.baseAddress, min($0.count, blockingPiece)) }
    }

    private static let blockingPiece = 64

    /// Whether a write to the descriptor waits for room; a regular file always has some.
    static func isBlocking(_ descriptor: CInt) -> Bool {
        var status = stat()
        let isFile = fstat(descriptor, &status) == 0 && status.st_mode & S_IFMT == S_IFREG
        return !isFile && fcntl(descriptor, F_GETFL) & O_NONBLOCK == 0
    }

    /// Whether something can be read within a time.
    static func waitForInput(_ descriptor: CInt, _ limit: Duration) -> Bool {
        var ready = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        let milliseconds = limit.components.seconds * 1000 + limit.components.attoseconds / 1_000_000_000_000_000
        return poll(&ready, 1, CInt(clamping: max(0, milliseconds))) > 0
    }
}
