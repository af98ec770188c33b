// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

internal import CTerminalRestore
internal import LinuxLibC
internal import LoopUI
internal import RunLoops

/// System calls on the terminal and on the standard descriptors.
enum Device {
    /// Opens what a descriptor is open on once more, or takes the same if that cannot be.
    ///
    /// A new description can be made non-blocking, and the shell's stays as it is. A regular file would be read from
    /// its beginning, and never blocks.
    static func reopen(_ descriptor: CInt, _ access: CInt) throws(RunLoop.SystemCallError) -> CInt {
        var status = stat()
        if fstat(descriptor, &status) == 0, status.st_mode & S_IFMT != S_IFREG {
            let number = open("/proc/self/fd/\(descriptor)", access | O_NOCTTY | O_NONBLOCK | O_CLOEXEC)
            if number >= 0 { return number }
        }
        return try duplicate(descriptor)
    }

    static func duplicate(_ descriptor: CInt) throws(RunLoop.SystemCallError) -> CInt {
        let number = fcntl(descriptor, F_DUPFD_CLOEXEC, 3)
        if number < 0 { throw RunLoop.SystemCallError(call: "fcntl", code: errno) }
        return number
    }

    /// Opens the terminal of the process; the terminal on a descriptor if there is none.
    static func openTerminal(_ descriptor: CInt?) throws(RunLoop.SystemCallError) -> CInt {
        if descriptor == nil {
            let number = open("/dev/tty", O_RDWR | O_NOCTTY | O_NONBLOCK | O_CLOEXEC)
            if number >= 0 { return number }
        }
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
    static func take(
        _ descriptor: CInt, leaving: String, keepsOutput: Bool = false
    ) throws(RunLoop.SystemCallError) {
        let bytes = Array(leaving.utf8)
        let result = ct_take(descriptor, keepsOutput ? 1 : 0, bytes, bytes.count)
        if result < 0 { throw RunLoop.SystemCallError(call: "tcsetattr", code: -result) }
    }

    static func prepare(leaving: String) {
        let bytes = Array(leaving.utf8)
        ct_prepare(bytes, bytes.count)
    }

    /// Writes what the descriptor takes; the result of write(2).
    static func send(_ bytes: [UInt8], to descriptor: CInt) -> Int {
        bytes.withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) }
    }

    /// Whether something can be read within a time.
    static func waitForInput(_ descriptor: CInt, _ limit: Duration) -> Bool {
        var ready = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        let milliseconds = limit.components.seconds * 1000 + limit.components.attoseconds / 1_000_000_000_000_000
        return poll(&ready, 1, CInt(clamping: max(0, milliseconds))) > 0
    }
}
