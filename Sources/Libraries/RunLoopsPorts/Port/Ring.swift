// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

/// A first-in, first-out store that grows when it must and moves its elements without copying them.
struct Ring<Element>: ~Copyable {
    // The capacity is a power of two, so that masking finds a place.
    private var storage: UnsafeMutablePointer<Element>
    private var capacity: Int
    private var head = 0
    private(set) var count = 0

    init() {
        capacity = 8
        storage = .allocate(capacity: capacity)
    }

    deinit {
        for index in 0..<count { (storage + ((head + index) & (capacity - 1))).deinitialize(count: 1) }
        storage.deallocate()
    }

    var isEmpty: Bool { count == 0 }

    mutating func append(_ element: consuming Element) {
        if count == capacity { grow() }
        (storage + ((head + count) & (capacity - 1))).initialize(to: element)
        count += 1
    }

    /// Puts an element before all others.
    mutating func prepend(_ element: consuming Element) {
        if count == capacity { grow() }
        head = (head - 1) & (capacity - 1)
        (storage + head).initialize(to: element)
        count += 1
    }

    mutating func popFirst() -> Element? {
        if count == 0 { return nil }
        defer {
            head = (head + 1) & (capacity - 1)
            count -= 1
        }
        return (storage + head).move()
    }

    /// Moves up to `limit` elements to the end of `other`.
    mutating func move(_ limit: Int, to other: inout Ring<Element>) {
        for _ in 0..<min(limit, count) {
            other.append((storage + head).move())
            head = (head + 1) & (capacity - 1)
            count -= 1
        }
    }

    private mutating func grow() {
        let larger = UnsafeMutablePointer<Element>.allocate(capacity: capacity * 2)
        let firstPart = min(count, capacity - head)
        larger.moveInitialize(from: storage + head, count: firstPart)
        (larger + firstPart).moveInitialize(from: storage, count: count - firstPart)
        storage.deallocate()
        storage = larger
        capacity *= 2
        head = 0
    }
}
