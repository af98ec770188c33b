// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

internal import CRunLoopsKernel
internal import CRunLoopsTerminalRestore
package import RunLoops
internal import RunLoopsEvents
internal import RunLoopsLibC

/// System calls on the terminal and on the standard descriptors.
package enum Device {
    /// Opens the pipe or terminal of a standard descriptor once more; if that is not possible, returns a duplicate of the
    /// descriptor.
    ///
    /// A new file description can be made non-blocking, while the shell's stays as it is. A regular file is not opened
    /// once more: it would be read from its beginning, and never blocks. Nor is a device: the new description would have
    /// a stream of its own.
    ///
    /// - Throws: `EBADF` if the descriptor is closed, or is not open on a stream of bytes: if a stream was closed when
    ///   the program was started, a descriptor of the system's events may have the stream's number.
    package static func reopen(_ descriptor: CInt, _ access: CInt) throws(RunLoop.SystemCallError) -> CInt {
        var status = stat()
        if fstat(descriptor, &status) != 0 { throw RunLoop.SystemCallError(call: "fstat", code: errno) }
        let kind = status.st_mode & S_IFMT
        let flags = fcntl(descriptor, F_GETFL)
        let isOpenFor = flags & O_ACCMODE == O_RDWR || flags & O_ACCMODE == access || access == O_RDWR
        // Events, timers and the like are of no kind.
        if ![S_IFCHR, S_IFREG, S_IFIFO, S_IFSOCK].contains(kind) || !isOpenFor {
            throw RunLoop.SystemCallError(call: "fstat", code: EBADF)
        }
        if let number = NonWaitingInput.reopen(descriptor, access) { return number }
        // A terminal of another user, as after su, can still be opened as the terminal of the process.
        if let own = NonWaitingInput.open("/dev/tty", access) {
            if terminalNumber(own).map({ $0 == terminalNumber(descriptor) }) == true { return own }
            close(own)
        }
        return try duplicate(descriptor)
    }

    /// Returns the device number of a terminal, by `TIOCGDEV`, which Swift does not import.
    private static func terminalNumber(_ descriptor: CInt) -> CUnsignedInt? {
        var number: CUnsignedInt = 0
        return ioctl(descriptor, 0x8004_5432 as UInt, &number) == 0 ? number : nil
    }

    static func duplicate(_ descriptor: CInt) throws(RunLoop.SystemCallError) -> CInt {
        let number = fcntl(descriptor, F_DUPFD_CLOEXEC, STDERR_FILENO + 1)
        if number < 0 { throw RunLoop.SystemCallError(call: "fcntl", code: errno) }
        return number
    }

    /// Opens the terminal on a descriptor, for reading and for writing; if `descriptor` is nil, the terminal of the
    /// process, or the terminal on a standard stream if the process has none.
    static func openTerminal(_ descriptor: CInt?) throws -> (input: CInt, output: CInt) {
        let input = try openOnce(descriptor)
        do {
            if isatty(input) != 1 { throw RawTerminal.OpenError.notATerminal }
            return (input, try duplicate(input))
        } catch {
            close(input)
            throw error
        }
    }

    private static func openOnce(_ descriptor: CInt?) throws(RunLoop.SystemCallError) -> CInt {
        if descriptor == nil, let number = NonWaitingInput.open("/dev/tty", O_RDWR) { return number }
        let streams = [STDOUT_FILENO, STDIN_FILENO, STDERR_FILENO]
        return try reopen(descriptor ?? streams.first { isatty($0) == 1 } ?? STDOUT_FILENO, O_RDWR)
    }

    /// Returns the number of columns and rows; nil if the terminal does not know them.
    static func size(_ descriptor: CInt) -> Size? {
        var size = winsize()
        guard ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0, size.ws_row > 0 else { return nil }
        return Size(columns: Int(size.ws_col), rows: Int(size.ws_row))
    }

    /// Returns the size of a cell in pixels; nil if the terminal does not report its size in pixels.
    package static func cellSize(_ descriptor: CInt) -> (width: Int, height: Int)? {
        var size = winsize()
        guard ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0, size.ws_row > 0 else { return nil }
        let (width, height) = (size.ws_xpixel / size.ws_col, size.ws_ypixel / size.ws_row)
        return width > 0 && height > 0 ? (Int(width), Int(height)) : nil
    }

    /// Makes the terminal raw, and registers its restoration for every way in which the process can end.
    ///
    /// - Parameters:
    ///   - descriptor: The terminal.
    ///   - leaving: The bytes that undo the modes that the program sets, which are written when the terminal is
    ///     restored.
    ///   - keepsOutput: Whether output is processed as before, and standard output and standard error stay as they are.
    ///   - keepsSettings: Whether the terminal settings that were saved earlier are restored at the end, instead of the
    ///     present ones.
    ///   - keepsSignals: Whether Ctrl-C, Ctrl-\\ and Ctrl-Z stay signals.
    package static func take(
        _ descriptor: CInt, leaving: String, keepsOutput: Bool = false, keepsSettings: Bool = false,
        keepsSignals: Bool = false
    ) throws(RunLoop.SystemCallError) {
        let bytes = Array(leaving.utf8)
        let flags =
            (keepsOutput ? CT_KEEPS_OUTPUT : 0) | (keepsSettings ? CT_KEEPS_SETTINGS : 0)
            | (keepsSignals ? CT_KEEPS_SIGNALS : 0)
        let result = ct_take(descriptor, flags, bytes, bytes.count)
        if result < 0 { throw RunLoop.SystemCallError(call: "tcsetattr", code: -result) }
    }

    /// Restores the terminal and the standard streams, and shows the text that was printed meanwhile; never waits for
    /// long.
    package static func giveBack() {
        ct_flush()
        ct_give_back()
    }

    /// Writes bytes that the terminal has not taken yet, with the limits of time of a restoration.
    static func sendRest(_ bytes: UnsafeRawBufferPointer, to descriptor: CInt) {
        // SAFETY: the call reads the bytes of the buffer, which is valid meanwhile.
        _ = ct_write(descriptor, bytes.baseAddress?.assumingMemoryBound(to: UInt8.self), bytes.count)
    }

    /// Ends the process by a signal, as if it had never been caught.
    package static func die(of signal: CInt) { ct_die(signal) }

    /// Drops typed keys and answers of the terminal that were not read yet.
    static func discardInput(_ descriptor: CInt) { tcflush(descriptor, TCIFLUSH) }

    static func prepare(leaving: String) {
        let bytes = Array(leaving.utf8)
        ct_prepare(bytes, bytes.count)
    }

    /// Writes as many bytes as the descriptor takes without waiting; returns the result of write(2).
    ///
    /// A file description that could not be opened once more is shared with the shell, and stays blocking: at most as
    /// many bytes are written as poll(2) promises room for.
    static func send(_ bytes: UnsafeRawBufferPointer, to descriptor: CInt, isBlocking: Bool) -> Int {
        if !isBlocking { return write(descriptor, bytes.baseAddress, bytes.count) }
        var ready = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
        guard poll(&ready, 1, 0) > 0 else {
            errno = EAGAIN
            return -1
        }
        return write(descriptor, bytes.baseAddress, min(bytes.count, blockingPiece))
    }

    private static let blockingPiece = 64

    /// Whether a write to the descriptor can block; a regular file always has room.
    static func isBlocking(_ descriptor: CInt) -> Bool {
        var status = stat()
        let isFile = fstat(descriptor, &status) == 0 && status.st_mode & S_IFMT == S_IFREG
        return !isFile && fcntl(descriptor, F_GETFL) & O_NONBLOCK == 0
    }

    /// Waits until bytes can be read, for a limited time; returns whether they can.
    static func waitForInput(_ descriptor: CInt, _ limit: Duration) -> Bool {
        var ready = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        let milliseconds = limit.components.seconds * 1000 + limit.components.attoseconds / 1_000_000_000_000_000
        return poll(&ready, 1, CInt(clamping: max(0, milliseconds))) > 0
    }
}
