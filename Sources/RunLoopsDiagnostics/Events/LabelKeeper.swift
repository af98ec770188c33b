// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

internal import RunLoops

/// Keeps the texts alive that events point to: an item may be gone when they are read.
///
/// A table of fixed size, so that keeping one takes no memory. Belongs to the loop's thread.
struct LabelKeeper: ~Copyable {
    private static let capacity = 1024
    private static let mask = UInt(capacity - 1)

    // SAFETY: initialised as a whole and given back as a whole; each entry holds a reference of its own.
    private let kept: UnsafeMutablePointer<Unmanaged<ItemLabel.Text>?>
    private var count = 0

    init() {
        kept = .allocate(capacity: Self.capacity)
        kept.initialize(repeating: nil, count: Self.capacity)
    }

    deinit {
        for index in 0..<Self.capacity { kept[index]?.release() }
        kept.deallocate()
    }

    /// The label as two words that stay good as long as the table.
    mutating func keep(_ label: ItemLabel) -> (label: UInt64, line: UInt64) {
        switch label {
        case .location(let location): (UInt64(UInt(bitPattern: location.file)), UInt64(location.line))
        case .text(let text): (keep(text), .max)
        }
    }

    /// The text as a number, which stays valid as long as the table; 0 when the table is full.
    private mutating func keep(_ text: ItemLabel.Text) -> UInt64 {
        let reference = Unmanaged.passUnretained(text)
        let address = UInt(bitPattern: reference.toOpaque())
        var index = (address >> 4 &* 0x9E37_79B9) & Self.mask
        while let other = kept[Int(index)] {
            if UInt(bitPattern: other.toOpaque()) == address { return UInt64(address) }
            index = (index + 1) & Self.mask
        }
        // A quarter stays free, so that a search for a missing label ends soon.
        if count >= Self.capacity / 4 * 3 { return 0 }
        count += 1
        kept[Int(index)] = reference.retain()
        return UInt64(address)
    }

    /// What was kept; `nil` where the table was full.
    ///
    /// Any thread, while the table lives.
    static func label(_ label: UInt64, _ line: UInt64) -> ItemLabel? {
        guard let pointer = UnsafeRawPointer(bitPattern: UInt(label)) else { return nil }
        if line != .max {
            // SAFETY: written from a place, whose name is a literal and lives for ever.
            let file = pointer.assumingMemoryBound(to: UInt8.self)
            return .location(CodeLocation(file: file, line: UInt32(truncatingIfNeeded: line)))
        }
        // SAFETY: written by keep, which holds a reference.
        return .text(Unmanaged<ItemLabel.Text>.fromOpaque(pointer).takeUnretainedValue())
    }

    /// What an event's label says.
    ///
    /// Any thread, while the table lives.
    static func text(_ label: UInt64, _ line: UInt64) -> String {
        self.label(label, line)?.text ?? "(one label too many)"
    }
}
