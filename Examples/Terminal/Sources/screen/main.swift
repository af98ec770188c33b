// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

// An ncurses screen on a loop: keys, the terminal's size and a clock. The key q ends it.

import CCurses
import Glibc
import RunLoops
import RunLoopsEvents

let loop = RunLoop.main
setlocale(LC_ALL, "")
// Before initscr, which takes the signal only if nobody has it.
let size = try SignalSource(SIGWINCH) { _, _ in
    var terminal = winsize()
    guard ioctl(STDOUT_FILENO, UInt(TIOCGWINSZ), &terminal) == 0 else { return }
    resizeterm(CInt(terminal.ws_row), CInt(terminal.ws_col))
    show("\(terminal.ws_col) columns", line: 1)
}
// SAFETY: the screen lives to the end of the program, and the main thread alone uses it.
nonisolated(unsafe) let screen = initscr()
cbreak()
noecho()
keypad(screen, true)
// wgetch must not wait, and after an escape only for a moment: it waits in the loop's thread.
nodelay(screen, true)
set_escdelay(25)

func show(_ text: String, line: CInt) {
    wmove(screen, line, 0)
    wclrtoeol(screen)
    waddstr(screen, text)
    wrefresh(screen)
}

let keys = RunLoop.DescriptorSource(STDIN_FILENO) { _, _ in
    // Until there is none: curses reads ahead, and the descriptor does not say so.
    while case let key = wgetch(screen), key != ERR {
        if key == 113 { return RunLoop.main.stop() }
        show("key \(key)", line: 0)
    }
}
var seconds = 0
let clock = RunLoop.Timer(.after(.zero, every: .seconds(1))) { _ in
    show("\(seconds) s", line: 2)
    seconds += 1
}
try loop.add(size, in: .common)
try loop.add(keys, in: .common)
loop.add(clock, in: .common)
loop.run()
endwin()
