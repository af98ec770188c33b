# SPDX-FileCopyrightText: The swift-run-loops contributors
# SPDX-License-Identifier: Apache-2.0

# The same with urwid.
import urwid

line = urwid.Text("keys: 0")
count = 0


def pressed(key):
    global count
    if key == "q":
        raise urwid.ExitMainLoop()
    count += 1
    line.set_text(f"keys: {count}, the last: {key}")


urwid.MainLoop(urwid.Filler(line, "top"), unhandled_input=pressed).run()
