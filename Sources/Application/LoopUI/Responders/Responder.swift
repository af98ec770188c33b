// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

/// An object that events and commands come to.
///
/// A responder that does nothing with an event hands it to its ``next``, and so along the chain: from a view to its
/// controller if it is that controller's own view, else to the view around it; from a controller to the view around its
/// own; from the window to the application, and from there to its delegate, if that is a responder.
@MainActor open class Responder {
    /// A responder without a place in a chain.
    public init() {}

    /// The responder after this one; nil at the end.
    open var next: Responder? { nil }

    // MARK: First responder

    /// Whether keys may come to this responder first; false unless overridden.
    open var canBecomeFirstResponder: Bool { false }

    /// Whether it gives the keys away when another responder wants them; true unless overridden.
    open var canResignFirstResponder: Bool { true }

    /// Whether keys come to this responder first.
    public var isFirstResponder: Bool { responderWindow?.firstResponder === self }

    /// The window whose keys this responder can get.
    var responderWindow: Window? { nil }

    /// Makes this the responder that keys come to first.
    ///
    /// - Returns: Whether it is the first responder now.
    @discardableResult
    open func becomeFirstResponder() -> Bool { responderWindow?.makeFirstResponder(self) ?? false }

    /// Gives the keys away; they go to the window's root then.
    ///
    /// - Returns: Whether it is not the first responder now.
    @discardableResult
    open func resignFirstResponder() -> Bool {
        guard isFirstResponder else { return true }
        return responderWindow?.makeFirstResponder(nil) ?? true
    }

    /// Called when this has become the first responder, with true, or has ceased to be, with false.
    open func firstResponderChanged(_ isFirst: Bool) {}

    // MARK: Touches

    /// Touches have begun.
    open func touchesBegan(_ touches: Set<Touch>, with event: Event?) { next?.touchesBegan(touches, with: event) }

    /// Touches have moved.
    open func touchesMoved(_ touches: Set<Touch>, with event: Event?) { next?.touchesMoved(touches, with: event) }

    /// Touches have ended.
    open func touchesEnded(_ touches: Set<Touch>, with event: Event?) { next?.touchesEnded(touches, with: event) }

    /// Touches were taken away, by a gesture or by the display: what they began is to be undone.
    open func touchesCancelled(_ touches: Set<Touch>, with event: Event?) {
        next?.touchesCancelled(touches, with: event)
    }

    // MARK: Keys, wheel, paste

    /// The keys that do something at this responder; none unless overridden.
    open var keyCommands: [KeyCommand] { [] }

    /// Keys have gone down, or repeat.
    ///
    /// The keys of ``Responder/keyCommands`` are used; all others go on along the chain.
    open func pressesBegan(_ presses: Set<Press>, with event: Event?) {
        let commands = keyCommands
        let unused = presses.filter { press in !commands.contains { $0.perform(press, at: self) } }
        if !unused.isEmpty { next?.pressesBegan(unused, with: event) }
    }

    /// Keys have gone up.
    open func pressesEnded(_ presses: Set<Press>, with event: Event?) { next?.pressesEnded(presses, with: event) }

    /// Keys are not known any more.
    open func pressesCancelled(_ presses: Set<Press>, with event: Event?) {
        next?.pressesCancelled(presses, with: event)
    }

    /// The wheel was turned.
    open func wheelTurned(_ wheel: Wheel, with event: Event?) { next?.wheelTurned(wheel, with: event) }

    /// Text was pasted; a long text comes in parts.
    open func pasted(_ paste: Paste, with event: Event?) { next?.pasted(paste, with: event) }

    // MARK: Commands

    /// Whether this responder carries the command out; false unless overridden.
    open func canPerform(_ command: Command) -> Bool { false }

    /// Carries the command out.
    ///
    /// - Parameters:
    ///   - command: A command that ``canPerform(_:)`` has said yes to.
    ///   - sender: What has sent it.
    open func perform(_ command: Command, from sender: AnyObject?) {}

    /// The first responder along the chain, from this one, that carries the command out.
    ///
    /// - Complexity: O(length of the chain).
    public func target(for command: Command) -> Responder? {
        var responder: Responder? = self
        while let candidate = responder {
            if candidate.canPerform(command) { return candidate }
            responder = candidate.next
        }
        return nil
    }
}

/// Responders are equal if they are the same object.
extension Responder: Hashable {
    /// Whether both are the same object.
    public nonisolated static func == (left: Responder, right: Responder) -> Bool { left === right }

    /// Hashes the identity.
    public nonisolated func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}

/// Something that a user can tell the program to do, by its name: it goes along the chain of responders until one
/// carries it out.
public struct Command: RawRepresentable, Hashable, Sendable {
    /// The name.
    public let rawValue: String

    /// The command of a name.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// The command of a name.
    public init(_ name: String) { rawValue = name }

    /// Copies what is selected.
    public static let copy = Command("copy")
    /// Copies what is selected and deletes it.
    public static let cut = Command("cut")
    /// Inserts what was copied.
    public static let paste = Command("paste")
    /// Selects everything.
    public static let selectAll = Command("selectAll")
    /// Deletes what is selected.
    public static let delete = Command("delete")
    /// Leaves what is going on.
    public static let cancel = Command("cancel")
    /// Ends the program.
    public static let quit = Command("quit")
}
