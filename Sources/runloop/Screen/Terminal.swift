// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import CLinuxKernel
import Synchronization

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// What the terminal was like before the demo changed it; nil while it is as it was.
///
/// Outside of any object, because `exit()` may come from anywhere and asks no object.
private let saved = Mutex<termios?>(nil)

/// The terminal on standard input and output: its mode, its size, and what is written to it.
enum Terminal {
    /// True if both ends are a terminal that can move its cursor.
    static func isUsable(term: String?) -> Bool {
        isatty(STDIN_FILENO) == 1 && isatty(STDOUT_FILENO) == 1 && term != nil && term != "dumb"
    }

    /// The size; 80 by 24 where the terminal does not say.
    static func size() -> Screen.Size {
        var size = winsize()
        guard ioctl(STDOUT_FILENO, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0, size.ws_row > 0 else {
            return Screen.Size(columns: 80, rows: 24)
        }
        return Screen.Size(columns: Int(size.ws_col), rows: Int(size.ws_row))
    }

    /// Keys come one by one and unseen, and the alternate screen is shown.
    ///
    /// `leave()` undoes it, and so does the process's exit.
    static func enter() {
        saved.withLock { saved in
            if saved == nil {
                var before = termios()
                guard tcgetattr(STDIN_FILENO, &before) == 0 else { return }
                saved = before
            }
            guard var raw = saved else { return }
            // ISIG stays: Ctrl-C and Ctrl-Z are signals here as anywhere, and come through the source that takes
            // signals.
            raw.c_lflag &= ~tcflag_t(ICANON | ECHO | IEXTEN)
            raw.c_iflag &= ~tcflag_t(IXON | ICRNL)
            set(raw)
        }
        // Alternate screen, cursor hidden, no wrapping at the last column, erase all.
        write("\u{1B}[?1049h\u{1B}[?25l\u{1B}[?7l\u{1B}[2J")
    }

    /// Puts everything back.
    ///
    /// Does nothing the second time.
    static func leave() {
        saved.withLock { saved in
            guard let before = saved else { return }
            write("\u{1B}[0m\u{1B}[?7h\u{1B}[?25h\u{1B}[?1049l")
            set(before)
            saved = nil
        }
    }

    /// Arranges for `leave()` at the process's exit, whoever calls `exit`.
    static func leaveAtExit() {
        atexit { Terminal.leave() }
    }

    /// Writes all of the text.
    static func write(_ text: String) {
        var text = text
        text.withUTF8 { bytes in
            var rest = UnsafeRawBufferPointer(bytes)
            while !rest.isEmpty {
                let count = Int(rl_write(STDOUT_FILENO, rest.baseAddress, rest.count))
                if count >= 0 {
                    rest = UnsafeRawBufferPointer(rebasing: rest.dropFirst(count))
                } else if count == -Int(EAGAIN) {
                    // A process that shares the description made it non-blocking. That process decides, so wait.
                    var ready = pollfd(fd: STDOUT_FILENO, events: Int16(POLLOUT), revents: 0)
                    _ = poll(&ready, 1, -1)
                } else {
                    // Gone (EIO, EPIPE): nobody is left to tell. The loop hears of it through its input and signals.
                    return
                }
            }
        }
    }

    private static func set(_ attributes: termios) {
        var attributes = attributes
        // EINTR: a signal came; the call is simply made again.
        while tcsetattr(STDIN_FILENO, TCSADRAIN, &attributes) == -1 && errno == EINTR {}
    }
}
