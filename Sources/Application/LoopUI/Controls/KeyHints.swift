// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

/// A line with the keys that work at present, and what they do.
///
/// The hints are the titles of the key commands of the first responder and of the responders along its chain; a key that
/// two of them have is shown once, for the one that receives it first. The line changes with the first responder. A program
/// whose ``Responder/keyCommands`` change otherwise calls ``View/setNeedsDisplay()``.
///
/// If the line is too narrow, the last hints are left out.
///
/// ```
/// q Quit  Space Pause  ^S Save  ↑ Older
/// ```
@MainActor open class KeyHints: View {
    /// Makes a line of hints for the window that it is added to.
    public init() { super.init(frame: .zero) }

    open override func didMoveToWindow() {
        super.didMoveToWindow()
        window?.addKeyHints(self)
    }

    /// The keys and titles, in the order of the responder chain.
    private var hints: [(key: String, title: String)] {
        var hints: [(key: String, title: String)] = []
        for responder in sequence(first: window?.keyTarget, next: { $0?.next }).compactMap(\.self) {
            for command in responder.keyCommands where !command.title.isEmpty {
                let key = command.keyName(usesUnicode: theme.usesUnicode)
                if !hints.contains(where: { $0.key == key }) { hints.append((key, command.title)) }
            }
        }
        return hints
    }

    open override func sizeThatFits(_ size: Size) -> Size {
        let widths = hints.map { $0.key.cellWidth + 1 + $0.title.cellWidth }
        return Size(min(size.width, Double(widths.reduce(0, +) + 2 * max(0, widths.count - 1))), 1)
    }

    open override func draw(in canvas: inout Canvas) {
        var x = 0
        for hint in hints {
            let end = x + hint.key.cellWidth + 1 + hint.title.cellWidth
            if Double(end) > canvas.size.width { break }
            canvas.write(hint.key, at: Point(Double(x), 0), style: theme.accent)
            canvas.write(hint.title, at: Point(Double(x + hint.key.cellWidth + 1), 0), style: theme.secondary)
            x = end + 2
        }
    }

    open override var accessibilityRole: String? { "keys" }
    open override var accessibilityValue: String? {
        hints.map { "\($0.key): \($0.title)" }.joined(separator: ", ")
    }
}

extension KeyCommand {
    /// The key with its modifier keys, as short as keyboards and terminals write it: `q`, `Space`, `^S`, `Alt-↑`.
    func keyName(usesUnicode: Bool) -> String {
        var name = modifiers.contains(.command) ? "Super-" : ""
        if modifiers.contains(.alt) { name += "Alt-" }
        if case .character(let character) = key {
            let shown = character == " " ? "Space" : String(character)
            if modifiers.contains(.control) { return name + "^" + shown.uppercased() }
            return name + shown
        }
        if modifiers.contains(.control) { name += "Ctrl-" }
        if modifiers.contains(.shift) { name += "Shift-" }
        return name + key.name(usesUnicode: usesUnicode)
    }
}

extension Key {
    fileprivate func name(usesUnicode: Bool) -> String {
        switch self {
        case .character(let character): String(character)
        case .enter: "Enter"
        case .tab: "Tab"
        case .escape: "Esc"
        case .backspace: "Backspace"
        case .delete: "Del"
        case .insert: "Ins"
        case .up: usesUnicode ? "↑" : "Up"
        case .down: usesUnicode ? "↓" : "Down"
        case .left: usesUnicode ? "←" : "Left"
        case .right: usesUnicode ? "→" : "Right"
        case .home: "Home"
        case .end: "End"
        case .pageUp: "PgUp"
        case .pageDown: "PgDn"
        case .function(let number): "F\(number)"
        case .other(let number): "Key \(number)"
        }
    }
}
