// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

/// An object that receives events and commands.
///
/// A responder that does not handle an event passes it to its ``next``. The chain leads from a view to its controller
/// if it is the controller's own view, else to its superview; from a controller to the superview of the controller's
/// view; and from the window to the application, and then to the application's delegate if the delegate is a responder.
@MainActor open class Responder {
    /// Makes a responder that is in no chain yet.
    public init() {}

    /// The next responder of the chain; nil at its end.
    open var next: Responder? { nil }

    // MARK: First responder

    /// Whether this responder can become the first responder, which receives keys first; false unless overridden.
    open var canBecomeFirstResponder: Bool { false }

    /// Whether this responder stops being the first responder when another responder is to become it; true unless
    /// overridden.
    open var canResignFirstResponder: Bool { true }

    /// Whether this is the first responder, which receives keys first.
    public var isFirstResponder: Bool { responderWindow?.firstResponder === self }

    /// The window whose keys this responder can get.
    var responderWindow: Window? { nil }

    /// Makes this the first responder, which receives keys first.
    ///
    /// - Returns: Whether this is the first responder now.
    @discardableResult
    open func becomeFirstResponder() -> Bool { responderWindow?.makeFirstResponder(self) ?? false }

    /// Stops being the first responder; keys are then sent to an open sheet, alert or menu, or else to the root view.
    ///
    /// - Returns: Whether another responder, or none, is the first responder now.
    @discardableResult
    open func resignFirstResponder() -> Bool {
        guard isFirstResponder else { return true }
        return responderWindow?.makeFirstResponder(nil) ?? true
    }

    /// Called with true when this has become the first responder, and with false when it has ceased to be.
    open func firstResponderChanged(_ isFirst: Bool) {}

    // MARK: Touches

    /// Called when touches have begun; passes them to ``Responder/next`` unless overridden.
    open func touchesBegan(_ touches: Set<Touch>, with event: Event?) { next?.touchesBegan(touches, with: event) }

    /// Called when touches have moved; passes them to ``Responder/next`` unless overridden.
    open func touchesMoved(_ touches: Set<Touch>, with event: Event?) { next?.touchesMoved(touches, with: event) }

    /// Called when touches have ended; passes them to ``Responder/next`` unless overridden.
    open func touchesEnded(_ touches: Set<Touch>, with event: Event?) { next?.touchesEnded(touches, with: event) }

    /// Called when a gesture or the display has cancelled touches; passes them to ``Responder/next`` unless overridden.
    ///
    /// An override undoes the effects of the touches.
    open func touchesCancelled(_ touches: Set<Touch>, with event: Event?) {
        next?.touchesCancelled(touches, with: event)
    }

    // MARK: Keys, wheel, paste

    /// The key commands of this responder; none unless overridden.
    open var keyCommands: [KeyCommand] { [] }

    /// Called when keys have gone down or repeat.
    ///
    /// Carries out the commands of ``Responder/keyCommands``, and passes all other keys to ``Responder/next``, unless
    /// overridden.
    open func pressesBegan(_ presses: Set<Press>, with event: Event?) {
        let commands = keyCommands
        let unused = presses.filter { press in !commands.contains { $0.perform(press, at: self) } }
        if !unused.isEmpty { next?.pressesBegan(unused, with: event) }
    }

    /// Called when keys have gone up; passes them to ``Responder/next`` unless overridden.
    open func pressesEnded(_ presses: Set<Press>, with event: Event?) { next?.pressesEnded(presses, with: event) }

    /// Called when the ends of presses will not be known, since the program or its window has lost the keyboard; passes
    /// the presses to ``Responder/next`` unless overridden.
    open func pressesCancelled(_ presses: Set<Press>, with event: Event?) {
        next?.pressesCancelled(presses, with: event)
    }

    /// Called when the wheel was turned; passes the turn to ``Responder/next`` unless overridden.
    open func wheelTurned(_ wheel: Wheel, with event: Event?) { next?.wheelTurned(wheel, with: event) }

    /// Called when text was pasted, for each part of a long text; passes it to ``Responder/next`` unless overridden.
    open func pasted(_ paste: Paste, with event: Event?) { next?.pasted(paste, with: event) }

    // MARK: Commands

    /// Whether this responder carries the command out; false unless overridden.
    open func canPerform(_ command: Command) -> Bool { false }

    /// Carries the command out.
    ///
    /// - Parameters:
    ///   - command: A command for which ``canPerform(_:)`` has returned true.
    ///   - sender: The object that has sent the command.
    open func perform(_ command: Command, from sender: AnyObject?) {}

    /// Returns the nearest responder along the chain, starting with this one, that carries the command out; nil if
    /// there is none.
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

/// An operation that the user can ask for, identified by a name; it is passed along the chain of responders until one
/// carries it out.
public struct Command: RawRepresentable, Hashable, Sendable {
    /// The name.
    public let rawValue: String

    /// Makes the command with a name.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// Makes the command with a name.
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
    /// Cancels the operation under way.
    public static let cancel = Command("cancel")
    /// Ends the program.
    public static let quit = Command("quit")
}
