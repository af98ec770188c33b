// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

// A readline prompt beside a loop that goes on: what a timer prints appears above the line that is being typed.

import CReadline
import Glibc
import RunLoops
import RunLoopsEvents

let loop = RunLoop.main
rl_leave_signals()
rl_callback_handler_install("> ") { line in
    // No line: the end of the input, Ctrl-D.
    guard let line else { return RunLoop.main.stop() }
    defer { free(line) }
    if line[0] != 0 { add_history(line) }
    print("you typed “\(String(cString: line))”")
}
let keys = RunLoop.DescriptorSource(STDIN_FILENO) { _, _ in rl_callback_read_char() }
let size = try SignalSource(SIGWINCH) { _, _ in rl_resize_terminal() }
let interrupt = try SignalSource(SIGINT) { _, _ in
    // As a shell does: the line is given up, and a new one begins.
    print("^C")
    rl_callback_sigcleanup()
    rl_replace_line("", 1)
    rl_on_new_line()
    rl_redisplay()
}
let news = RunLoop.Timer(.every(.seconds(2))) { timer in
    rl_clear_visible_line()
    print("the loop goes on")
    rl_on_new_line()
    rl_redisplay()
}
for source in [size, interrupt] { try loop.add(source, in: .common) }
try loop.add(keys, in: .common)
loop.add(news, in: .common)
loop.run()
rl_callback_handler_remove()
