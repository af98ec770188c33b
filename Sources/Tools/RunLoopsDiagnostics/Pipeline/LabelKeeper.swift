// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

internal import RunLoops

/// Keeps the label texts that recorded events point to, because an item may no longer exist when its events are read.
///
/// The texts are in a hash table, equal texts once. A program may give a million items the same label, one after the
/// other: only the first text is kept. A program may also give each item a label of its own, for months: when the table
/// has grown, the keeper releases the texts that no ring, table or open callout points to any longer. So each label that
/// is in use has its text, and the memory is bounded by the size of the rings and tables.
// Unchecked: what the lock does not guard belongs to the loop's thread.
final class LabelKeeper: @unchecked Sendable {
    /// The number of texts up to which no text is released.
    private static let fewest = 6144

    private struct Holder {
        weak var object: (any LabelHolder)?
    }

    // The loop's thread.
    /// The table of the texts; each entry holds a reference of its own.
    @exclusivity(unchecked) private var slots: [Unmanaged<ItemLabel.Text>?] = Array(repeating: nil, count: 256)
    @exclusivity(unchecked) private(set) var count = 0
    /// The kept texts, compared by their content.
    @exclusivity(unchecked) private var different: Set<ItemLabel.Text> = []
    /// The number of texts at which the keeper releases unused texts.
    @exclusivity(unchecked) private var limit = fewest

    /// A reader holds the lock while it finds a label and retains the text; the loop's thread holds it while it
    /// releases texts.
    private let lock = Lock()
    // Guarded by the lock.
    @exclusivity(unchecked) private var holders: [Holder] = []

    deinit { for slot in slots { slot?.release() } }

    // MARK: Any thread

    /// Adds a holder: from now on, the texts that it points to are not released.
    func add(_ holder: any LabelHolder) {
        lock.withLock {
            holders.removeAll { $0.object == nil }
            holders.append(Holder(object: holder))
        }
    }

    /// Calls `body`, which reads labels; no text is released meanwhile.
    ///
    /// `body` must not call this method again.
    func reading<Result>(_ body: () -> Result) -> Result { lock.withLock(body) }

    // MARK: The loop's thread

    /// Returns the label as two words, which are valid as long as a holder contains them.
    func keep(_ label: ItemLabel) -> (label: UInt64, line: UInt64) {
        switch label {
        case .location(let file, let line): (UInt64(UInt(bitPattern: file)), UInt64(line))
        case .text(let text): (keep(text), .max)
        }
    }

    /// Keeps a text; returns its address as a number.
    private func keep(_ text: ItemLabel.Text) -> UInt64 {
        let reference = Unmanaged.passUnretained(text)
        var index = slot(of: UInt(bitPattern: reference.toOpaque()))
        if slots[index] == nil {
            if let first = different.firstIndex(of: text) {
                return UInt64(UInt(bitPattern: Unmanaged.passUnretained(different[first]).toOpaque()))
            }
            if count >= limit { releaseUnused() }
            // A quarter stays free, so that a search for a missing label ends soon.
            if count >= slots.count / 4 * 3 { fill(slots.compactMap { $0 }, slots.count * 2) }
            index = slot(of: UInt(bitPattern: reference.toOpaque()))
            count += 1
            slots[index] = reference.retain()
            different.insert(text)
        }
        return UInt64(UInt(bitPattern: reference.toOpaque()))
    }

    /// Returns the index of the text at this address, or the free index where it belongs.
    private func slot(of address: UInt) -> Int {
        var index = Int((address >> 4 &* 0x9E37_79B9) & UInt(slots.count - 1))
        while let other = slots[index], UInt(bitPattern: other.toOpaque()) != address {
            index = (index + 1) & (slots.count - 1)
        }
        return index
    }

    private func fill(_ texts: [Unmanaged<ItemLabel.Text>], _ size: Int) {
        slots = Array(repeating: nil, count: size)
        for text in texts { slots[slot(of: UInt(bitPattern: text.toOpaque()))] = text }
    }

    /// Releases the texts that no holder points to; does nothing while a reader holds the lock.
    @inline(never)
    private func releaseUnused() {
        guard lock.lock(until: 0) else { return }
        defer { lock.unlock() }
        var isUsed = Array(repeating: false, count: slots.count)
        for holder in holders {
            holder.object?.visitLabels { word in
                let index = slot(of: UInt(word))
                if slots[index] != nil { isUsed[index] = true }
            }
        }
        let used = zip(slots, isUsed).compactMap { $1 ? $0 : nil }
        let unused = zip(slots, isUsed).compactMap { $1 ? nil : $0 }
        count = used.count
        // Of many that are used a part at least has to go before the next search: it is as long as they are many.
        limit = max(Self.fewest, used.count * 2)
        fill(used, slots.count)
        for text in unused { different.remove(text._withUnsafeGuaranteedRef { $0 }) }
        for text in unused { text.release() }
    }

    // MARK: Reading

    /// Returns the label of two words; `nil` if the words contain none.
    ///
    /// The loop's thread may call this for a label that a holder contains; other threads call it inside
    /// ``reading(_:)``.
    static func label(_ label: UInt64, _ line: UInt64) -> ItemLabel? {
        guard let pointer = UnsafeRawPointer(bitPattern: UInt(label)) else { return nil }
        if line != .max {
            // SAFETY: written from a place, whose name is a literal and lives for ever.
            let file = pointer.assumingMemoryBound(to: UInt8.self)
            return .location(file: file, line: UInt32(truncatingIfNeeded: line))
        }
        // SAFETY: written by keep, which holds a reference as long as a holder has the word.
        return .text(Unmanaged<ItemLabel.Text>.fromOpaque(pointer).takeUnretainedValue())
    }

    /// Returns the text of an event's label.
    static func text(_ label: UInt64, _ line: UInt64) -> String { self.label(label, line)?.text ?? "" }
}

/// An object with words that point to labels, such as a state, a ring or a table.
protocol LabelHolder: AnyObject, Sendable {
    /// Calls `visit` with each word that may point to a label; a word that points to none does no harm.
    ///
    /// Called by the loop's thread, which writes these words.
    func visitLabels(_ visit: (UInt64) -> Void)
}
