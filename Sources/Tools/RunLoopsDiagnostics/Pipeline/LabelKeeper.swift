// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

internal import RunLoops

/// Keeps the texts alive that events point to: an item may be gone when they are read.
///
/// A hash table of the different texts. A program may give a million items the same label, one after the other: the first
/// text stands for all of them. A program may also give each item a label of its own, for months: when the table has
/// grown, the keeper releases the texts that no ring, table or open callout points to any more. So no label is ever
/// without a place, and the memory is bounded by what is kept of the events themselves.
// Unchecked: what the lock does not guard belongs to the loop's thread.
final class LabelKeeper: @unchecked Sendable {
    /// So many texts are kept whether anything points to them or not.
    private static let fewest = 6144

    private struct Holder {
        weak var object: (any LabelHolder)?
    }

    // The loop's thread.
    /// Each entry holds a reference of its own.
    @exclusivity(unchecked) private var slots: [Unmanaged<ItemLabel.Text>?] = Array(repeating: nil, count: 256)
    @exclusivity(unchecked) private(set) var count = 0
    /// The same texts, compared by their content.
    @exclusivity(unchecked) private var different: Set<ItemLabel.Text> = []
    /// With so many texts it is time to look for unused ones.
    @exclusivity(unchecked) private var limit = fewest

    /// Held by a reader, from finding a label to holding its text, and by the loop's thread while it releases texts.
    private let lock = Lock()
    // Guarded by the lock.
    @exclusivity(unchecked) private var holders: [Holder] = []

    deinit { for slot in slots { slot?.release() } }

    // MARK: Any thread

    /// From here on the texts stay that `holder` points to.
    func add(_ holder: any LabelHolder) {
        lock.withLock {
            holders.removeAll { $0.object == nil }
            holders.append(Holder(object: holder))
        }
    }

    /// Reads labels: meanwhile no text is released.
    ///
    /// `body` must not call this again.
    func reading<Result>(_ body: () -> Result) -> Result { lock.withLock(body) }

    // MARK: The loop's thread

    /// The label as two words that stay good as long as a holder points to them.
    func keep(_ label: ItemLabel) -> (label: UInt64, line: UInt64) {
        switch label {
        case .location(let file, let line): (UInt64(UInt(bitPattern: file)), UInt64(line))
        case .text(let text): (keep(text), .max)
        }
    }

    /// The text as a number.
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

    /// Where the text at this address is, or belongs.
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

    /// Releases the texts that nothing points to; not while a reader is about to look at one, which is soon over.
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

    /// The label of the two words; `nil` if there is none.
    ///
    /// The loop's thread, for a label that it points to; other threads inside ``reading(_:)``.
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

    /// The text of an event's label.
    static func text(_ label: UInt64, _ line: UInt64) -> String { self.label(label, line)?.text ?? "" }
}

/// Has words that point to labels: a state, a ring, a table.
protocol LabelHolder: AnyObject, Sendable {
    /// Calls `visit` with each word that may point to a label; a word that points to none does no harm.
    ///
    /// The loop's thread, which writes these words.
    func visitLabels(_ visit: (UInt64) -> Void)
}
