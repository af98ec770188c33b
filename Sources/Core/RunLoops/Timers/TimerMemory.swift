// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

internal import CRunLoopsKernel

/// Memory for the tables of timers: pages of their own, except for the smallest tables.
///
/// When a program asks the C library for a block of a kilobyte, or gives a large block back, glibc walks over all the
/// small blocks that were freed before: tens of milliseconds after a hundred thousand timers, in the middle of serving
/// the others (Documentation/Decisions/0029-one-story.md). Pages leave glibc's heap alone.
struct TimerMemory<Element: ~Copyable>: ~Copyable {
    /// The smallest capacity, in elements, to which a table shrinks; a table with this capacity or less does not shrink.
    static var minKept: Int { 4096 }
    /// The maximum number of bytes that a table requests from the C library: with glibc's alignment it stays below a
    /// kilobyte.
    private static var maxUnpagedBytes: Int { 512 }

    // SAFETY: of `lead + capacity` elements, which are moved as bytes; the user of the memory knows which are
    // initialised.
    private var memory: UnsafeMutableRawPointer
    private let lead: Int
    private(set) var capacity = 0

    /// An empty table.
    ///
    /// - Parameter lead: Elements that are left free at the front, to move the others relative to cache lines.
    init(lead: Int = 0) {
        self.lead = lead
        memory = .allocate(byteCount: lead * MemoryLayout<Element>.stride, alignment: 64)
    }

    deinit { Self.free(memory, size(of: capacity)) }

    var base: UnsafeMutablePointer<Element> { memory.assumingMemoryBound(to: Element.self) + lead }

    /// Whether the table has much more room than `count` elements need.
    func isRoomy(for count: Int) -> Bool { capacity > Self.minKept && count < capacity / 8 }

    /// Makes room for `newCapacity` elements; the first elements stay as they are.
    ///
    /// Memory that no element has used is zero.
    mutating func resize(to newCapacity: Int) {
        let (old, oldSize, newSize) = (memory, size(of: capacity), size(of: newCapacity))
        if Self.isPaged(oldSize), Self.isPaged(newSize) {
            memory = Self.require(rl_pages_resize(old, oldSize, newSize), newCapacity)
        } else {
            memory = Self.isPaged(newSize) ? Self.require(rl_pages_map(newSize), newCapacity) : Self.zeros(newSize)
            memory.copyMemory(from: old, byteCount: min(oldSize, newSize))
            Self.free(old, oldSize)
        }
        capacity = newCapacity
    }

    private func size(of capacity: Int) -> Int { (lead + capacity) * MemoryLayout<Element>.stride }
    private static func isPaged(_ size: Int) -> Bool { size > maxUnpagedBytes }

    private static func zeros(_ size: Int) -> UnsafeMutableRawPointer {
        let memory = UnsafeMutableRawPointer.allocate(byteCount: size, alignment: 64)
        memory.initializeMemory(as: UInt8.self, repeating: 0, count: size)
        return memory
    }

    private static func free(_ memory: UnsafeMutableRawPointer, _ size: Int) {
        if isPaged(size) { rl_pages_unmap(memory, size) } else { memory.deallocate() }
    }

    private static func require(_ pages: UnsafeMutableRawPointer?, _ count: Int) -> UnsafeMutableRawPointer {
        guard let pages else { fatalError("Out of memory for the tables of \(count) timers.") }
        return pages
    }
}

extension TimerMemory where Element: BitwiseCopyable {
    subscript(index: Int) -> Element {
        get { base[index] }
        nonmutating set { base[index] = newValue }
    }
}
