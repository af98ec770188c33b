# SPDX-FileCopyrightText: The swift-run-loops contributors
# SPDX-License-Identifier: Apache-2.0

# The same with prompt_toolkit.
from prompt_toolkit import Application
from prompt_toolkit.key_binding import KeyBindings
from prompt_toolkit.layout import FormattedTextControl, Layout, Window

count = 0
text = "keys: 0"
bindings = KeyBindings()


@bindings.add("<any>")
def pressed(event):
    global count, text
    key = event.key_sequence[0].key
    if key == "q":
        event.app.exit()
    count += 1
    text = f"keys: {count}, the last: {key}"


Application(
    layout=Layout(Window(FormattedTextControl(lambda: text))), key_bindings=bindings, full_screen=True
).run()
