// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

/// One line of text that the user writes.
///
/// The field knows the keys of readline: Ctrl with A, E, B, F, H, D, K, U, W and Y, Alt with B, F, D and W. Shift with a
/// moving key selects, as dragging does; two taps select a word and three everything. Ctrl with `_` undoes. Enter sends
/// ``Control/Events/primaryAction``, and each change by the user sends ``Control/Events/editingChanged``.
@MainActor open class TextField: Control {
    private var buffer = TextBuffer()
    private var undoStack = UndoStack()
    private var entries = EntryHistory()
    /// The index of the first character that is shown.
    private var firstShown = 0

    /// The text; setting it moves the caret to the end and calls no action.
    public var text: String {
        get { buffer.text }
        set {
            undoStack = UndoStack()
            buffer.setText(newValue)
            show()
        }
    }
    /// The text that is shown while the field is empty.
    public var placeholder: String { didSet { if placeholder != oldValue { setNeedsDisplay() } } }
    /// Whether dots are shown instead of the characters; the text is then never copied, and not kept in ``history``.
    public var isSecure = false { didSet { if isSecure != oldValue { show() } } }
    /// The maximum number of characters of the text; further characters that are typed or pasted are left out.
    ///
    /// A character of more than 32 Unicode scalars becomes the replacement character, since a hostile text could
    /// otherwise put a million scalars into one character.
    public var maximumLength: Int {
        get { buffer.maximumLength }
        set {
            buffer.maximumLength = max(0, newValue)
            show()
        }
    }
    /// Whether Enter keeps the text in ``history``; false unless set.
    public var keepsHistory = false
    /// The texts that the up and down arrows recall, the newest at the end.
    public var history: [String] {
        get { entries.entries }
        set { entries.entries = newValue }
    }
    /// The maximum number of texts in ``history``.
    public var historyLimit: Int {
        get { entries.limit }
        set {
            entries.limit = max(0, newValue)
            entries.entries = entries.entries
        }
    }
    /// The pasteboard that text is copied to and pasted from.
    public var pasteboard = Pasteboard.general

    /// Makes an empty field.
    ///
    /// - Parameters:
    ///   - placeholder: The text that is shown while the field is empty.
    ///   - action: Called when the user enters the text; receives the field.
    public init(placeholder: String = "", action: ((TextField) -> Void)? = nil) {
        self.placeholder = placeholder
        super.init()
        clipsToBounds = true
        if let action { addAction(action) }
    }

    // MARK: Selection

    /// The range of the selected characters, counted from 0; empty at the caret if nothing is selected.
    ///
    /// A range that goes beyond the text is cut.
    public var selectedRange: Range<Int> {
        get { buffer.selection }
        set {
            buffer.move(to: newValue.lowerBound)
            buffer.move(to: newValue.upperBound, selecting: true)
            show()
        }
    }

    /// The selected text.
    public var selectedText: String { buffer.selectedText }

    // MARK: Changing

    /// Replaces the selection with text, as if the user had typed it; line breaks become spaces.
    public func insertText(_ text: String) { change(.other) { $0.insert(text) } }

    private func change(_ kind: UndoStack.Kind, _ body: (inout TextBuffer) -> Void) {
        // Within a group no copy is made: a key in a long text costs what the key changes.
        let old = undoStack.beginsGroup(kind) ? buffer : nil
        let (version, caret, selection) = (buffer.version, buffer.caret, buffer.selection)
        body(&buffer)
        if buffer.version != version {
            undoStack.didChange(from: old, kind)
            show()
            sendActions(for: .editingChanged)
        } else if buffer.caret != caret || buffer.selection != selection {
            undoStack.endGroup()
            show()
        }
    }

    private func move(to place: Int, selecting: Bool) { change(.other) { $0.move(to: place, selecting: selecting) } }

    private func delete(to place: Int, keeping: Bool = false) {
        let range = buffer.selection.isEmpty ? min(place, buffer.caret)..<max(place, buffer.caret) : buffer.selection
        if range.isEmpty { return }
        let version = buffer.version
        if keeping, !isSecure { pasteboard.text = String(buffer.characters[range]) }
        // The pasteboard has called the program, which may have changed the text.
        guard buffer.version == version else { return }
        change(keeping ? .other : .deleting) { $0.remove(range) }
    }

    /// Scrolls the text so that the caret is visible, and has the field drawn.
    private func show() {
        // As before, but with the caret in sight, and no room left empty that the text could fill.
        let last = min(firstShown, buffer.caret, start(before: buffer.characters.count))
        firstShown = max(last, start(before: buffer.caret))
        setNeedsDisplay()
        if isFirstResponder { window?.application?.commit.markFrame() }
    }

    /// Returns the index of the first character to show, so that the characters up to `place`, and the caret there, are
    /// visible.
    private func start(before place: Int) -> Int {
        let width = max(1, frame.width.wholeCells)
        var (first, taken) = (place, 1)
        while first > 0, taken + self.width(at: first - 1) <= width {
            first -= 1
            taken += self.width(at: first)
        }
        return first
    }

    open override func layoutSubviews() { show() }

    // MARK: Keys

    open override func handle(_ press: Press) -> Bool {
        if let text = press.text {
            change(.typing) { $0.insert(text) }
            return true
        }
        let (isSelecting, modifiers) = (press.modifiers.contains(.shift), press.modifiers.subtracting(.shift))
        switch modifiers {
        case []: return handlePlain(press.key, isSelecting)
        case .control: return handleControl(press.key, isSelecting)
        case .alt: return handleAlt(press.key, isSelecting)
        case .command:
            guard case .character(let character) = press.key, let command = Self.commands[character] else {
                return false
            }
            return carryOut(isSelecting && command == .undo ? .redo : command)
        default: return false
        }
    }

    private static let commands: [Character: Command] = [
        "a": .selectAll, "c": .copy, "x": .cut, "v": .paste, "z": .undo,
    ]

    private func carryOut(_ command: Command) -> Bool {
        guard canPerform(command) else { return false }
        perform(command, from: self)
        return true
    }

    private func handlePlain(_ key: Key, _ isSelecting: Bool) -> Bool {
        let selection = buffer.selection
        switch key {
        case .left:
            move(to: isSelecting || selection.isEmpty ? buffer.caret - 1 : selection.lowerBound, selecting: isSelecting)
        case .right:
            move(to: isSelecting || selection.isEmpty ? buffer.caret + 1 : selection.upperBound, selecting: isSelecting)
        case .home: move(to: 0, selecting: isSelecting)
        case .end: move(to: buffer.characters.count, selecting: isSelecting)
        case .backspace: delete(to: max(0, buffer.caret - 1))
        case .delete where isSelecting: return carryOut(.cut)
        case .insert where isSelecting: return carryOut(.paste)
        case .delete: delete(to: min(buffer.characters.count, buffer.caret + 1))
        case .up where !isSelecting: return recall(entries.previous(writing: text))
        case .down where !isSelecting: return recall(entries.next())
        case .enter where !isSelecting: activate()
        default: return false
        }
        return true
    }

    private func handleControl(_ key: Key, _ isSelecting: Bool) -> Bool {
        switch key {
        case .left: move(to: buffer.wordStart, selecting: isSelecting)
        case .right: move(to: buffer.wordEnd, selecting: isSelecting)
        case .home: move(to: 0, selecting: isSelecting)
        case .end: move(to: buffer.characters.count, selecting: isSelecting)
        case .character("a"): move(to: 0, selecting: false)
        case .character("e"): move(to: buffer.characters.count, selecting: false)
        case .character("b"): move(to: buffer.caret - 1, selecting: false)
        case .character("f"): move(to: buffer.caret + 1, selecting: false)
        case .character("h"): delete(to: max(0, buffer.caret - 1))
        case .character("d") where !buffer.characters.isEmpty:
            delete(to: min(buffer.characters.count, buffer.caret + 1))
        case .character("k"): delete(to: buffer.characters.count, keeping: true)
        case .character("u"): delete(to: 0, keeping: true)
        case .character("w"), .backspace: delete(to: buffer.wordStart, keeping: true)
        case .delete: delete(to: buffer.wordEnd, keeping: true)
        case .character("y"), .character("v"): return carryOut(.paste)
        case .character("x"): return carryOut(.cut)
        case .insert: return carryOut(.copy)
        case .character("_"), .character("/"): return carryOut(.undo)
        default: return false
        }
        return true
    }

    private func handleAlt(_ key: Key, _ isSelecting: Bool) -> Bool {
        switch key {
        case .left, .character("b"): move(to: buffer.wordStart, selecting: isSelecting)
        case .right, .character("f"): move(to: buffer.wordEnd, selecting: isSelecting)
        case .character("d"): delete(to: buffer.wordEnd, keeping: true)
        case .backspace: delete(to: buffer.wordStart, keeping: true)
        case .character("w"): return carryOut(.copy)
        default: return false
        }
        return true
    }

    /// Shows a text of the history; returns false without one, so that the arrow moves the focus.
    private func recall(_ text: String?) -> Bool {
        guard let text else { return false }
        change(.other) { $0.setText(text) }
        return true
    }

    /// Enters the text: adds it to ``history`` if ``keepsHistory`` is set, and sends ``Control/Events/primaryAction``.
    open override func activate() {
        undoStack.endGroup()
        if keepsHistory, !isSecure { entries.add(text) }
        sendActions(for: .primaryAction)
    }

    // MARK: Pasting and commands

    open override func pasted(_ paste: Paste, with event: Event?) {
        guard isEnabled else { return }
        change(.pasting) { $0.insert(paste.text) }
        if paste.isLast { undoStack.endGroup() }
    }

    open override func canPerform(_ command: Command) -> Bool {
        guard isEnabled else { return false }
        return switch command {
        case .copy, .cut: !buffer.selection.isEmpty && !isSecure
        case .delete: !buffer.selection.isEmpty
        case .paste: pasteboard.text != nil
        case .selectAll, .undo, .redo: true
        default: super.canPerform(command)
        }
    }

    open override func perform(_ command: Command, from sender: AnyObject?) {
        switch command {
        case .copy: pasteboard.text = buffer.selectedText
        case .cut: delete(to: buffer.caret, keeping: true)
        case .delete: delete(to: buffer.caret)
        case .paste: insertText(pasteboard.text ?? "")
        case .selectAll: change(.other) { $0.selectAll() }
        case .undo: restore { undoStack.undo(&buffer) }
        case .redo: restore { undoStack.redo(&buffer) }
        default: super.perform(command, from: sender)
        }
    }

    private func restore(_ body: () -> Bool) {
        guard body() else { return }
        show()
        sendActions(for: .editingChanged)
    }

    // MARK: Touches

    open override func beginTracking(_ touch: Touch, with event: Event?) -> Bool {
        let place = place(of: touch)
        switch touch.tapCount {
        case 1: move(to: place, selecting: event?.modifiers.contains(.shift) ?? false)
        case 2: change(.other) { $0.selectWord(at: place) }
        default: change(.other) { $0.selectAll() }
        }
        return true
    }

    open override func continueTracking(_ touch: Touch, with event: Event?) {
        if touch.tapCount == 1 { move(to: place(of: touch), selecting: true) }
    }

    // Not an entry: that is what Enter is for.
    open override func endTracking(_ touch: Touch, with event: Event?) {}

    /// Returns the index of the character that a touch is on; beyond the edges one character further.
    private func place(of touch: Touch) -> Int {
        let x = touch.location(in: self).x
        if x < 0 { return max(0, firstShown - 1) }
        var (place, end) = (firstShown, 0.0)
        while place < buffer.characters.count, end < frame.width + 1 {
            end += Double(width(at: place))
            if end > x { return place }
            place += 1
        }
        return place
    }

    // MARK: Looks

    private func width(at place: Int) -> Int { isSecure ? 1 : buffer.characters[place].cellWidth }

    open override func sizeThatFits(_ size: Size) -> Size {
        Size(min(size.width, Double(max(20, placeholder.cellWidth + 1))), 1)
    }

    open override func draw(in canvas: inout Canvas) {
        let style = isEnabled ? theme.field : theme.disabled
        canvas.fill(Rect(0, 0, canvas.size.width, 1), style: style)
        if buffer.characters.isEmpty {
            let shown = TextLines.cut(placeholder, width: Int(canvas.size.width), ellipsis: theme.ellipsis)
            var hint = theme.secondary
            hint.attributes.formUnion(style.attributes)
            canvas.write(shown, at: .zero, style: hint)
        }
        var (x, place) = (0.0, firstShown)
        while place < buffer.characters.count, x < canvas.size.width {
            let character = isSecure ? (theme.usesUnicode ? "•" : "*") : buffer.characters[place]
            let isMarked = isFirstResponder && buffer.selection.contains(place)
            canvas.write(String(character), at: Point(x, 0), style: isMarked ? theme.selection : style)
            x += Double(width(at: place))
            place += 1
        }
    }

    /// The position of the caret, where the cursor is shown.
    open override var cursor: Point? {
        Point(Double((firstShown..<max(firstShown, buffer.caret)).reduce(0) { $0 + width(at: $1) }), 0)
    }

    open override var accessibilityRole: String? { isSecure ? "secure text field" : "text field" }
    open override var accessibilityLabel: String? {
        get { super.accessibilityLabel ?? (placeholder.isEmpty ? nil : placeholder) }
        set { super.accessibilityLabel = newValue }
    }
    open override var accessibilityValue: String? { isSecure ? "\(buffer.characters.count) characters" : text }
}
