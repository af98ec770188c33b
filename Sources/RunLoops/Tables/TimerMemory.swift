// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

internal import CLinuxKernel

/// Memory for the tables of timers: pages of their own where they are large.
///
/// When a program asks the C library for a block of a kilobyte, or gives a large block back, glibc walks over all the
/// small blocks that were freed before: tens of milliseconds after a hundred thousand timers, in the middle of serving
/// the others (Documentation/Decisions/0029-one-story.md). Pages leave glibc's heap alone.
struct TimerMemory<Element: ~Copyable>: ~Copyable {
    /// From this many elements on a table has pages, and never becomes smaller again.
    static var leastPaged: Int { 4096 }

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

    deinit { Self.free(memory, lead + capacity, isPaged: isPaged) }

    @inline(__always)
    var base: UnsafeMutablePointer<Element> { memory.assumingMemoryBound(to: Element.self) + lead }

    /// Whether the table has much more room than `count` elements need.
    func isRoomy(for count: Int) -> Bool { capacity > Self.leastPaged && count < capacity / 8 }

    /// Makes room for `newCapacity` elements; the first elements stay as they are, the others have no defined value.
    @inline(never)
    mutating func resize(to newCapacity: Int) {
        let (old, oldCount, wasPaged) = (memory, lead + capacity, isPaged)
        let newCount = lead + newCapacity
        let size = MemoryLayout<Element>.stride
        if wasPaged, newCapacity >= Self.leastPaged {
            memory = Self.require(rl_pages_resize(old, oldCount * size, newCount * size), newCapacity)
        } else {
            memory =
                newCapacity < Self.leastPaged
                ? .allocate(byteCount: newCount * size, alignment: 64)
                : Self.require(rl_pages_map(newCount * size), newCapacity)
            memory.copyMemory(from: old, byteCount: min(oldCount, newCount) * size)
            Self.free(old, oldCount, isPaged: wasPaged)
        }
        capacity = newCapacity
    }

    private var isPaged: Bool { capacity >= Self.leastPaged }

    private static func free(_ memory: UnsafeMutableRawPointer, _ count: Int, isPaged: Bool) {
        if isPaged {
            rl_pages_unmap(memory, count * MemoryLayout<Element>.stride)
        } else {
            memory.deallocate()
        }
    }

    private static func require(_ pages: UnsafeMutableRawPointer?, _ count: Int) -> UnsafeMutableRawPointer {
        guard let pages else { fatalError("Out of memory for the tables of \(count) timers.") }
        return pages
    }
}

extension TimerMemory where Element: BitwiseCopyable {
    @inline(__always)
    subscript(index: Int) -> Element {
        get { base[index] }
        nonmutating set { base[index] = newValue }
    }
}
