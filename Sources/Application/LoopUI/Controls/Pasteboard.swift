// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

/// The text that was copied or cut last, which all text fields of the program share.
///
/// A display hands the text of the general pasteboard to the system's clipboard. The program receives the clipboard's
/// text only when the user pastes it.
@MainActor public final class Pasteboard {
    /// The pasteboard of the program.
    public static let general = Pasteboard()

    /// The text; nil if nothing was copied yet.
    public var text: String? {
        didSet { changeHandler?(text) }
    }

    /// Called when the text has changed; a display can hand it to the system's clipboard.
    public var changeHandler: ((String?) -> Void)?

    /// Makes a pasteboard that is independent of the general one.
    public init() {}
}

extension Command {
    /// Undoes the last change.
    public static let undo = Command("undo")
    /// Repeats the change that was undone last.
    public static let redo = Command("redo")
}
