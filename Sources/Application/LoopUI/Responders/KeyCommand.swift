// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

/// A key that does something while the focus is on a responder or inside it.
///
/// The responder lists its key commands in ``Responder/keyCommands``:
///
/// ```swift
/// final class Player: ViewController {
///     override var keyCommands: [KeyCommand] {
///         [
///             KeyCommand(.character("q"), action: .quit),
///             KeyCommand(.character(" ")) { [weak self] in self?.pause() },
///         ]
///     }
///
///     func pause() {}
/// }
/// ```
///
/// Responders that come before it in the chain use a key first: a text field with the focus takes all letters.
///
/// Corresponds to UIKit's `UIKeyCommand`.
@MainActor public struct KeyCommand {
    /// The key.
    public let key: Key
    /// The keys that have to be held.
    ///
    /// Shift counts beside keys with a name only: a character tells it already.
    public let modifiers: KeyModifiers
    private let act: (Responder) -> Void

    /// A key that calls a closure.
    ///
    /// - Parameters:
    ///   - key: The key.
    ///   - modifiers: The keys that have to be held, and no others.
    ///   - handler: Called when the key goes down, and when it repeats.
    public init(_ key: Key, modifiers: KeyModifiers = [], handler: @escaping () -> Void) {
        self.key = key
        self.modifiers = modifiers
        act = { _ in handler() }
    }

    /// A key that sends a command along the chain, from the responder that has the key.
    ///
    /// - Parameters:
    ///   - key: The key.
    ///   - modifiers: The keys that have to be held, and no others.
    ///   - action: The command, such as ``Command/quit``.
    public init(_ key: Key, modifiers: KeyModifiers = [], action: Command) {
        self.key = key
        self.modifiers = modifiers
        act = { $0.target(for: action)?.perform(action, from: $0) }
    }

    /// Does what the key is for, if it is this key.
    ///
    /// - Returns: Whether it is.
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
