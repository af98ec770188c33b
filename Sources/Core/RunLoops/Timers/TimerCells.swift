// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

internal import CRunLoopsKernel

/// The place of a cell's entry: its index in a heap, or on the list of due timers.
///
/// A heap knows whether the place is one of its own (``TimerHeap/has(_:at:)``), so that a step of a heap writes an index and
/// nothing else.
struct TimerPlace: BitwiseCopyable {
    private static var listed: UInt32 { 1 << 31 }
    private let raw: UInt32

    @inline(__always)
    init(inHeap index: Int) { raw = UInt32(truncatingIfNeeded: index) }

    @inline(__always)
    init(onList index: Int) { raw = UInt32(truncatingIfNeeded: index) | Self.listed }

    @inline(__always)
    var isListed: Bool { raw & Self.listed != 0 }

    @inline(__always)
    var listIndex: Int { Int(raw & ~Self.listed) }

    /// The index in a heap; greater than any index in a heap if the entry is listed.
    @inline(__always)
    var heapIndex: Int { Int(raw) }
}

/// A closure that is called once after a delay: a timer without an object.
struct DelayedBody: ~Copyable {
    // The structure cannot be copied, so that a call of the closure does no reference counting.
    let call: () -> Void
    /// The location that posted the closure.
    let location: CodeLocation

    var label: ItemLabel { ItemLabel(location) }
}

/// Identifies a closure of a queue, also after the closure was called or cancelled.
struct DelayedID: Hashable, Sendable {
    let cell: UInt32
    /// Different for each of 2³² − 1 closures of the queue in a row; never 0.
    let generation: UInt32
}

/// The timers and closures of one queue, by cell: what each of them is, and where its entry is.
///
/// The table does not keep timers alive. All operations are O(1). Memory: 36 bytes times the greatest number of timers and
/// closures at one time, up to twice that while the table grows.
struct TimerCells<Timer: AnyObject>: ~Copyable {
    /// The content of a cell with a closure.
    private struct Closure: ~Copyable {
        let body: DelayedBody
        let generation: UInt32
    }

    /// The content of another cell, in the same 32 bytes: an enumeration would need one more, and take 40.
    private struct Other: BitwiseCopyable {
        /// The address of a timer, or the number of the next free cell.
        var word: UInt
        private let unused: (UInt, UInt, UInt32)
        /// 0, which no closure has.
        var generation: UInt32
    }

    private static var none: UInt32 { .max }

    // SAFETY: a cell below `used` has an `Other` if its generation is 0, and a `Closure` otherwise; the generation is the last of
    // the 32 bytes of both.
    private var contents = TimerMemory<Other>()
    /// The place of each cell's entry.
    // Apart from the contents: a step of a heap writes a place, and sixteen places are in one cache line.
    private(set) var places = TimerMemory<TimerPlace>()
    /// Cells that were ever used; the cells above are free.
    private var used = 0
    private var free = Self.none
    private(set) var count = 0
    private var lastGeneration: UInt32 = 0

    init() {}

    deinit { for cell in closures { closure(cell).deinitialize(count: 1) } }

    @inline(__always)
    private func other(_ cell: UInt32) -> UnsafeMutablePointer<Other> { contents.base + Int(cell) }

    @inline(__always)
    private func closure(_ cell: UInt32) -> UnsafeMutablePointer<Closure> {
        UnsafeMutableRawPointer(other(cell)).assumingMemoryBound(to: Closure.self)
    }

    // MARK: Adding and removing

    /// Adds a timer; returns its cell.
    @inline(__always)
    mutating func add(_ timer: Timer) -> UInt32 {
        let cell = takeFree()
        other(cell).pointee.word = UInt(bitPattern: Unmanaged.passUnretained(timer).toOpaque())
        return cell
    }

    @inline(__always)
    mutating func add(_ body: consuming DelayedBody) -> DelayedID {
        lastGeneration = lastGeneration == .max ? 1 : lastGeneration + 1
        let cell = takeFree()
        closure(cell).initialize(to: Closure(body: body, generation: lastGeneration))
        return DelayedID(cell: cell, generation: lastGeneration)
    }

    @inline(__always)
    private mutating func takeFree() -> UInt32 {
        count += 1
        if free != Self.none {
            defer { free = UInt32(truncatingIfNeeded: other(free).pointee.word) }
            return free
        }
        if used == contents.capacity { grow() }
        let cell = UInt32(truncatingIfNeeded: used)
        other(cell).pointee.generation = 0
        used += 1
        return cell
    }

    private mutating func grow() {
        contents.resize(to: max(8, used * 2))
        places.resize(to: contents.capacity)
    }

    /// Frees the cell of a timer.
    @inline(__always)
    mutating func remove(_ cell: UInt32) {
        other(cell).pointee.word = UInt(free)
        free = cell
        count -= 1
    }

    /// Frees the cell of a closure; returns the closure.
    @inline(__always)
    mutating func takeClosure(_ cell: UInt32) -> DelayedBody {
        let closure = closure(cell).move()
        other(cell).pointee.generation = 0
        remove(cell)
        return closure.body
    }

    // MARK: Asking

    /// The timer in a cell; `nil` if there is a closure.
    // Unmanaged: the table keeps no timer alive, so that adding and removing count no reference.
    @inline(__always)
    subscript(cell: UInt32) -> Unmanaged<Timer>? {
        if generation(of: cell) != 0 { return nil }
        // The owner asks for cells that it has, and keeps the timers alive.
        return Unmanaged.fromOpaque(UnsafeRawPointer(bitPattern: other(cell).pointee.word).unsafelyUnwrapped)
    }

    /// The generation of the closure in a cell; 0 if there is none.
    @inline(__always)
    func generation(of cell: UInt32) -> UInt32 {
        let end = MemoryLayout<Other>.size - MemoryLayout<UInt32>.size
        return UnsafeRawPointer(other(cell)).load(fromByteOffset: end, as: UInt32.self)
    }

    /// The cells that have closures.
    var closures: [UInt32] { (0..<UInt32(used)).filter { generation(of: $0) != 0 } }

    /// Whether the queue still has a closure.
    @inline(__always)
    func contains(_ id: DelayedID) -> Bool {
        id.generation != 0 && id.cell < used && generation(of: id.cell) == id.generation
    }

    /// The location that posted the closure in a cell; `nil` if there is a timer.
    func label(of cell: UInt32) -> ItemLabel? {
        generation(of: cell) == 0 ? nil : closure(cell).pointee.body.label
    }

    /// Prefetches a cell.
    @inline(__always)
    func prefetch(_ cell: UInt32) { rl_prefetch(other(cell)) }

    /// Prefetches the timer in a cell.
    @inline(__always)
    func prefetchTimer(_ cell: UInt32) {
        if generation(of: cell) == 0 { rl_prefetch_object(other(cell).pointee.word) }
    }

    // MARK: Memory

    var isRoomy: Bool { count == 0 && contents.isRoomy(for: 0) }

    /// Releases unused memory after a burst.
    ///
    /// - Precondition: empty.
    mutating func trim() {
        contents.resize(to: TimerMemory<Other>.minKept)
        places.resize(to: contents.capacity)
        used = 0
        free = Self.none
    }
}
