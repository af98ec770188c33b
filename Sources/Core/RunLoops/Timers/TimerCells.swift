// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

internal import CRunLoopsKernel

/// The place of a cell's entry: its index in a heap, or on the list of due timers.
///
/// In a free cell, the next free cell. A heap knows whether the place is one of its own (``TimerHeap/has(_:at:)``), so that a
/// step of a heap writes an index and nothing else.
struct TimerPlace: BitwiseCopyable {
    private static var listed: UInt32 { 1 << 31 }
    private let raw: UInt32

    @inline(__always)
    init(inHeap index: Int) { raw = UInt32(truncatingIfNeeded: index) }

    @inline(__always)
    init(onList index: Int) { raw = UInt32(truncatingIfNeeded: index) | Self.listed }

    fileprivate init(nextFree cell: UInt32) { raw = cell }

    @inline(__always)
    var isListed: Bool { raw & Self.listed != 0 }

    @inline(__always)
    var listIndex: Int { Int(raw & ~Self.listed) }

    /// The index in a heap; greater than any index in a heap if the entry is listed.
    @inline(__always)
    var heapIndex: Int { Int(raw) }

    fileprivate var nextFree: UInt32 { raw }
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
/// The table does not keep timers alive. All operations are O(1). Memory: 12 bytes for a timer, 36 for a closure, times the
/// greatest number at one time; up to twice that while the table grows.
struct TimerCells<Timer: AnyObject>: ~Copyable {
    private struct Closure: ~Copyable {
        let body: DelayedBody
        // In the gap behind the line number of the body.
        let generation: UInt32
    }

    private static var none: UInt32 { .max }

    // Three tables, so that an operation touches no memory that it does not need. With 100,000 timers each table that is
    // touched is a cache miss, and the next atomic operation waits for it (Documentation/Decisions/0005-timers-in-buckets.md).
    /// The timer in each cell that has one.
    private var timers = TimerMemory<Unmanaged<Timer>>()
    /// The place of each entry; sixteen are in one cache line, and a step of a heap writes one.
    private(set) var places = TimerMemory<TimerPlace>()
    /// The closure in each cell that has one; without memory before the first closure.
    // SAFETY: a cell has a closure if its generation is not 0, and memory that was never used is zero.
    private var closures = TimerMemory<Closure>()
    /// Cells that were ever used; the cells above are free.
    private var used = 0
    private var free = Self.none
    private(set) var count = 0
    private var lastGeneration: UInt32 = 0

    init() {}

    deinit { for cell in cellsOfClosures { closure(cell).deinitialize(count: 1) } }

    @inline(__always)
    private func closure(_ cell: UInt32) -> UnsafeMutablePointer<Closure> { closures.base + Int(cell) }

    /// Points to the generation of the closure in a cell, which is 0 if there is none.
    ///
    /// - Precondition: there is memory for a closure.
    @inline(__always)
    private func generation(_ cell: UInt32) -> UnsafeMutablePointer<UInt32> {
        let offset = MemoryLayout<Closure>.size - MemoryLayout<UInt32>.size
        return (UnsafeMutableRawPointer(closure(cell)) + offset).assumingMemoryBound(to: UInt32.self)
    }

    // MARK: Adding and removing

    /// Adds a timer; returns its cell.
    @inline(__always)
    mutating func add(_ timer: Timer) -> UInt32 {
        let cell = takeFree()
        timers[Int(cell)] = Unmanaged.passUnretained(timer)
        rl_prefetch_store(timers.base + Int(free))
        return cell
    }

    @inline(__always)
    mutating func add(_ body: consuming DelayedBody) -> DelayedID {
        lastGeneration = lastGeneration == .max ? 1 : lastGeneration + 1
        let cell = takeFree()
        if cell >= closures.capacity { closures.resize(to: places.capacity) }
        closure(cell).initialize(to: Closure(body: body, generation: lastGeneration))
        return DelayedID(cell: cell, generation: lastGeneration)
    }

    @inline(__always)
    private mutating func takeFree() -> UInt32 {
        count += 1
        if free != Self.none {
            let cell = free
            free = places[Int(cell)].nextFree
            // The next free cell is anywhere in the tables.
            rl_prefetch_store(places.base + Int(free))
            return cell
        }
        if used == places.capacity { grow() }
        defer { used += 1 }
        return UInt32(truncatingIfNeeded: used)
    }

    private mutating func grow() {
        places.resize(to: max(8, used * 2))
        timers.resize(to: places.capacity)
    }

    /// Frees the cell of a timer.
    @inline(__always)
    mutating func remove(_ cell: UInt32) {
        places[Int(cell)] = TimerPlace(nextFree: free)
        free = cell
        count -= 1
    }

    /// Frees the cell of a closure; returns the closure.
    @inline(__always)
    mutating func takeClosure(_ cell: UInt32) -> DelayedBody {
        let closure = closure(cell).move()
        generation(cell).pointee = 0
        remove(cell)
        return closure.body
    }

    // MARK: Asking

    @inline(__always)
    private func hasClosure(_ cell: UInt32) -> Bool { cell < closures.capacity && generation(cell).pointee != 0 }

    /// The timer in a cell; `nil` if there is a closure.
    ///
    /// - Precondition: the cell is not free.
    // Unmanaged: the table keeps no timer alive, so that adding and removing count no reference.
    @inline(__always)
    subscript(cell: UInt32) -> Unmanaged<Timer>? { hasClosure(cell) ? nil : timers[Int(cell)] }

    /// The generation of the closure in a cell.
    ///
    /// - Precondition: there is a closure.
    func generation(of cell: UInt32) -> UInt32 { generation(cell).pointee }

    /// The cells that have closures.
    var cellsOfClosures: [UInt32] { (0..<UInt32(used)).filter { hasClosure($0) } }

    /// Whether the queue still has a closure.
    @inline(__always)
    func contains(_ id: DelayedID) -> Bool {
        id.generation != 0 && id.cell < closures.capacity && generation(id.cell).pointee == id.generation
    }

    /// The location that posted the closure in a cell; `nil` if there is a timer.
    func label(of cell: UInt32) -> ItemLabel? { hasClosure(cell) ? closure(cell).pointee.body.label : nil }

    /// Prefetches a cell.
    @inline(__always)
    func prefetch(_ cell: UInt32) {
        rl_prefetch(timers.base + Int(cell))
        rl_prefetch(closure(cell))
    }

    /// Prefetches the timer in a cell.
    @inline(__always)
    func prefetchTimer(_ cell: UInt32) {
        if let timer = self[cell] { rl_prefetch_object(UInt(bitPattern: timer.toOpaque())) }
    }

    // MARK: Memory

    /// Cells that have memory for a closure.
    var closureCapacity: Int { closures.capacity }

    var isRoomy: Bool { count == 0 && places.isRoomy(for: 0) }

    /// Releases unused memory after a burst.
    ///
    /// - Precondition: empty.
    mutating func trim() {
        places.resize(to: TimerMemory<TimerPlace>.minKept)
        timers.resize(to: places.capacity)
        if closures.capacity > places.capacity { closures.resize(to: places.capacity) }
        (used, free) = (0, Self.none)
    }
}
