// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

/// A key that carries out a command or calls a closure while the focus is on a responder or inside it.
///
/// The responder lists its key commands in ``Responder/keyCommands``:
///
/// ```swift
/// final class Player: ViewController {
///     override var keyCommands: [KeyCommand] {
///         [
///             KeyCommand(.character("q"), title: "Quit", action: .quit),
///             KeyCommand(.character(" "), title: "Pause") { [weak self] in self?.pause() },
///         ]
///     }
///
///     func pause() {}
/// }
/// ```
///
/// ``KeyHints`` shows the titles of the key commands that are in reach.
///
/// Responders earlier in the chain receive a key first: a text field with the focus takes all letters.
///
/// Corresponds to UIKit's `UIKeyCommand`.
@MainActor public struct KeyCommand {
    /// The key.
    public let key: Key
    /// The modifier keys that have to be held.
    ///
    /// Shift is compared for keys with a name only, since a character already depends on it.
    public let modifiers: KeyModifiers
    /// A title of one or two words for the key's effect; empty if the command is not to be shown.
    public let title: String
    private let act: (Responder) -> Void

    /// Makes a key command that calls a closure.
    ///
    /// - Parameters:
    ///   - key: The key.
    ///   - modifiers: The modifier keys that have to be held, and no others.
    ///   - title: What the key does, in a word or two, for ``KeyHints``.
    ///   - handler: Called when the key goes down, and when it repeats.
    public init(_ key: Key, modifiers: KeyModifiers = [], title: String = "", handler: @escaping () -> Void) {
        self.key = key
        self.modifiers = modifiers
        self.title = title
        act = { _ in handler() }
    }

    /// Makes a key command that sends a command along the chain, starting with the responder that has the key command.
    ///
    /// - Parameters:
    ///   - key: The key.
    ///   - modifiers: The modifier keys that have to be held, and no others.
    ///   - title: What the key does, in a word or two, for ``KeyHints``.
    ///   - action: The command, such as ``Command/quit``.
    public init(_ key: Key, modifiers: KeyModifiers = [], title: String = "", action: Command) {
        self.key = key
        self.modifiers = modifiers
        self.title = title
        act = { $0.target(for: action)?.perform(action, from: $0) }
    }

    /// Carries out the key command if a press is its key with its modifiers.
    ///
    /// - Returns: Whether the press was this key.
    func perform(_ press: Press, at responder: Responder) -> Bool {
        var (held, wanted) = (press.modifiers, modifiers)
        if case .character = key {
            held.remove(.shift)
            wanted.remove(.shift)
        }
        guard press.key == key, held == wanted else { return false }
        act(responder)
        return true
    }
}
