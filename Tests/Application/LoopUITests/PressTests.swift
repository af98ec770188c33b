// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import LoopUI
import LoopUITesting
import Testing

/// Logs the keys that come to it.
@MainActor private final class KeyView: View {
    let log: Log
    let name: String
    private(set) var seen: [Press] = []

    init(_ log: Log, _ name: String) {
        self.log = log
        self.name = name
        super.init()
    }

    override func pressesBegan(_ presses: Set<Press>, with event: Event?) { note(presses) }
    override func pressesEnded(_ presses: Set<Press>, with event: Event?) { note(presses) }
    override func pressesCancelled(_ presses: Set<Press>, with event: Event?) { note(presses) }

    private func note(_ presses: Set<Press>) {
        seen += presses
        for press in presses { log.add("\(name) \(press.key) \(press.phase)") }
    }
}

/// The life of a key, from going down to going up, or to where nobody knows any more.
@MainActor @Suite struct PressTests {
    private func with(
        keyEnds: Bool = true, _ body: (TestApplication, KeyView, Log) throws -> Void
    ) throws {
        try TestApplication.with { app in
            app.display.abilities.reportsKeyEnds = keyEnds
            let log = Log()
            let view = KeyView(log, "view")
            app.show(view)
            try body(app, view, log)
        }
    }

    private func key(_ key: Key, _ phase: KeyInput.Phase, _ modifiers: KeyModifiers = []) -> RawInput {
        .key(KeyInput(key, modifiers: modifiers, phase: phase))
    }

    @Test func `A held key is the same Press object from its beginning to its end`() throws {
        try with { app, view, log in
            app.send(key(.left, .began), key(.left, .repeated, .shift), key(.left, .ended))
            #expect(log.take() == ["view left began", "view left repeated", "view left ended"])
            #expect(Set(view.seen).count == 1 && view.seen[0].modifiers == [])
        }
    }

    @Test func `A key ends at once if the display does not report key ends`() throws {
        try with(keyEnds: false) { app, view, log in
            app.press(.left)
            #expect(log.take() == ["view left began", "view left ended"])
            app.send(.focus(false))
            #expect(log.take() == [])
        }
    }

    @Test func `Keys held when the display loses the focus are cancelled, and their later ends are ignored`() throws {
        try with { app, view, log in
            app.send(key(.left, .began), key(.character("a"), .began), .focus(false))
            let last = log.take().suffix(2).sorted()
            #expect(last == ["view character(\"a\") cancelled", "view left cancelled"])
            app.send(.focus(true), key(.left, .ended))
            #expect(log.take() == [])
            app.send(key(.left, .began), key(.left, .ended))
            #expect(log.take() == ["view left began", "view left ended"])
        }
    }

    @Test func `A key held when the program is suspended is cancelled`() throws {
        try with { app, view, log in
            app.send(key(.left, .began), .suspend)
            #expect(log.take() == ["view left began", "view left cancelled"])
        }
    }

    @Test func `A held key is cancelled in its window when another window becomes the key window`() throws {
        try with { app, view, log in
            app.send(key(.left, .began))
            let window = app.show(KeyView(log, "other"))
            #expect(log.take() == ["view left began", "view left cancelled"])
            app.send(key(.left, .ended), key(.right, .began))
            window.close()
            app.settle()
            #expect(log.take() == ["other right began", "other right cancelled"])
        }
    }

    @Test func `The release of a key that was pressed before the program began is ignored`() throws {
        try with { app, view, log in
            app.send(key(.enter, .ended))
            #expect(log.take() == [])
        }
    }
}
