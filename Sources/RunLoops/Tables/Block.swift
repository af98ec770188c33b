// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

/// A closure that waits for its turn, for one mode, for several, or for the common ones.
///
/// It is not copied, so that a call counts no reference to its closure.
package struct Block: ~Copyable {
    package let body: () -> Void
    /// Where the block was added, and in the highest bit of the line whether the block wakes: so a block takes 32
    /// bytes.
    private let location: CodeLocation
    let modes: BlockModes

    private static let wakeBit: UInt32 = 1 << 31

    @inline(__always)
    package init(modes: BlockModes, wakes: Bool, location: CodeLocation, body: consuming @escaping () -> Void) {
        self.body = body
        self.modes = modes
        self.location = CodeLocation(
            file: location.file, line: location.line & ~Self.wakeBit | (wakes ? Self.wakeBit : 0))
    }

    /// Whether a run that may run the block must not sleep before it has.
    @inline(__always)
    var wakes: Bool { location.line & Self.wakeBit != 0 }

    /// Whether the block may run in `running`, which is marked as common or not.
    @inline(__always)
    package borrowing func mayRun(in running: RunLoop.Mode, isCommon: Bool) -> Bool {
        modes.includes(running, isCommon: isCommon)
    }

    /// The same block, with `around` around its closure.
    consuming func wrapped(_ around: @escaping (() -> Void) -> Void) -> Block {
        let body = body
        return Block(modes: modes, wakes: wakes, location: location) { around(body) }
    }

    var label: ItemLabel { .location(CodeLocation(file: location.file, line: location.line & ~Self.wakeBit)) }
}

/// Blocks in a row of memory: put in at the end, each moved out once, in order.
struct BlockBuffer: ~Copyable {
    // SAFETY: of `capacity` blocks, initialised from `first` up to `end`; without capacity nobody looks where it
    // points.
    private var base = Self.nowhere
    private var capacity = 0
    private var first = 0
    private var end = 0

    private static var nowhere: UnsafeMutablePointer<Block> {
        UnsafeMutablePointer(bitPattern: MemoryLayout<Block>.alignment).unsafelyUnwrapped
    }

    init() {}

    deinit {
        (base + first).deinitialize(count: end - first)
        if capacity > 0 { base.deallocate() }
    }

    var isEmpty: Bool { first == end }
    var count: Int { end - first }

    @inline(__always)
    mutating func append(_ block: consuming Block) {
        if end == capacity { grow() }
        (base + end).initialize(to: block)
        end += 1
    }

    /// Takes out the first block.
    @inline(__always)
    mutating func next() -> Block? {
        if isEmpty { return nil }
        first += 1
        return (base + first - 1).move()
    }

    /// Moves all of `other` to the end of this one.
    mutating func append(all other: inout BlockBuffer) {
        while let block = other.next() { append(block) }
        other.reset()
    }

    /// Starts at the beginning of the memory again.
    ///
    /// What a burst has left is released by halves, in the rounds that use less than a quarter of it.
    ///
    /// - Precondition: empty.
    mutating func reset() {
        let used = end
        first = 0
        end = 0
        if capacity > 1024, used < capacity / 4 {
            base.deallocate()
            capacity /= 2
            base = .allocate(capacity: capacity)
        }
    }

    func contains(where condition: (borrowing Block) -> Bool) -> Bool {
        for index in first..<end where condition(base[index]) { return true }
        return false
    }

    var picture: [String] {
        (first..<end).map { index in
            let (label, modes) = (base[index].label, base[index].modes)
            return "<Block \(label.text)>{\(modes.all.map(\.rawValue).joined(separator: ", "))}"
        }
    }

    @inline(never)
    private mutating func grow() {
        let larger = max(16, capacity * 2)
        let new = UnsafeMutablePointer<Block>.allocate(capacity: larger)
        new.moveInitialize(from: base + first, count: count)
        if capacity > 0 { base.deallocate() }
        base = new
        capacity = larger
        end = count
        first = 0
    }
}
