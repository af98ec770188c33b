// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

/// Earlier states of a text, for undo and redo.
struct UndoStack {
    private var past: [TextBuffer] = []
    private var future: [TextBuffer] = []
    /// The kind of the last change; consecutive changes of one kind are undone together.
    private var lastKind: Kind?

    /// Kinds of changes.
    enum Kind: Hashable {
        case typing
        case deleting
        case pasting
        case other
    }

    /// The maximum number of states.
    static let capacity = 200

    /// Whether a change of this kind is undone by itself, and not together with the change before.
    func beginsGroup(_ kind: Kind) -> Bool { kind != lastKind || kind == .other }

    /// Keeps the state before a change.
    ///
    /// - Parameters:
    ///   - buffer: The state; nil if the change is undone together with the change before.
    ///   - kind: The kind of the change.
    mutating func didChange(from buffer: TextBuffer?, _ kind: Kind) {
        future = []
        lastKind = kind
        guard let buffer else { return }
        past.append(buffer)
        // Long texts have fewer states, so that memory is bounded too.
        let (product, isBeyond) = max(1024, buffer.maximumLength).multipliedReportingOverflow(by: 4)
        let room = isBeyond ? Int.max : product
        var (count, characters) = (0, 0)
        while count < min(past.count, Self.capacity) {
            characters += past[past.count - 1 - count].characters.count
            if characters > room, count > 0 { break }
            count += 1
        }
        past.removeFirst(past.count - count)
    }

    /// Ends the present group of changes: the next change is undone by itself.
    mutating func endGroup() { lastKind = nil }

    mutating func undo(_ buffer: inout TextBuffer) -> Bool {
        guard let last = past.popLast() else { return false }
        future.append(buffer)
        restore(last, to: &buffer)
        return true
    }

    private mutating func restore(_ state: TextBuffer, to buffer: inout TextBuffer) {
        let limit = buffer.maximumLength
        buffer = state
        if buffer.maximumLength != limit { buffer.maximumLength = limit }
        lastKind = nil
    }

    mutating func redo(_ buffer: inout TextBuffer) -> Bool {
        guard let next = future.popLast() else { return false }
        past.append(buffer)
        restore(next, to: &buffer)
        return true
    }
}

/// Texts that were entered before, as a shell keeps them.
struct EntryHistory {
    /// The texts, the last one at the end.
    var entries: [String] = [] {
        didSet {
            if entries.count > limit { entries.removeFirst(entries.count - limit) }
            place = nil
        }
    }
    /// The maximum number of texts.
    var limit = 100
    private var place: Int?
    private var draft = ""

    /// Adds a text at the end, unless it is empty or equal to the last text.
    mutating func add(_ text: String) {
        place = nil
        if text.isEmpty || text == entries.last { return }
        entries.append(text)
    }

    /// Returns the text before the present one; the text that the user was writing is kept for ``next()``.
    mutating func previous(writing text: String) -> String? {
        let next = (place ?? entries.count) - 1
        guard entries.indices.contains(next) else { return nil }
        if place == nil { draft = text }
        place = next
        return entries[next]
    }

    /// Returns the text after the present one; after the last, the text that the user was writing.
    mutating func next() -> String? {
        guard let place else { return nil }
        self.place = place + 1 < entries.count ? place + 1 : nil
        return self.place.map { entries[$0] } ?? draft
    }
}
