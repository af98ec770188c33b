// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

#if Window
internal import LoopUI

/// The two shortcuts with which terminals paste, which the application does not receive as keys.
struct PasteShortcut {
    /// The source of the text that a shortcut pastes.
    enum Selection {
        /// The text that the user has copied.
        case clipboard
        /// The text that the user has marked last.
        case primary
    }

    /// The key of a shortcut, while it is held.
    private var held: Key?

    /// Returns whether a key belongs to a shortcut, and what is to be pasted now.
    mutating func take(_ input: KeyInput) -> (isTaken: Bool, pasted: Selection?) {
        var pasted: Selection?
        if input.phase == .began {
            switch (input.key, input.modifiers) {
            case (.insert, .shift): pasted = .primary
            case (.character("V"), .control): pasted = .clipboard
            default: break
            }
            if pasted != nil { held = input.key }
        }
        guard held == input.key else { return (false, nil) }
        // Its end comes later, with other modifiers perhaps.
        if input.phase == .ended { held = nil }
        return (true, pasted)
    }

    /// Notes that the window no longer has the keys.
    mutating func cancel() { held = nil }
}
#endif
