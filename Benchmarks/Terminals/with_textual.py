# SPDX-FileCopyrightText: The swift-run-loops contributors
# SPDX-License-Identifier: Apache-2.0

# The same with Textual.
from textual.app import App
from textual.widgets import Static


class Keys(App):
    count = 0

    def compose(self):
        yield Static("keys: 0", id="line", markup=False)

    def on_key(self, event):
        if event.key == "q":
            self.exit()
        self.count += 1
        self.query_one("#line").update(f"keys: {self.count}, the last: {event.key}")


Keys().run()
