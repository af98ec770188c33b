// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

/// Bytes that wait to be sent, first in, first out.
///
/// Pure: knows nothing of sockets.
struct OutputBuffer {
    private var bytes: [UInt8] = []
    /// Bytes before this place have been sent.
    private var start = 0
    /// From this many bytes on the buffer counts as full, until it is empty.
    let highWaterMark: Int
    private(set) var isFull = false

    init(highWaterMark: Int) { self.highWaterMark = highWaterMark }

    var count: Int { bytes.count - start }
    var isEmpty: Bool { count == 0 }

    mutating func append(_ new: some Sequence<UInt8>) {
        bytes.append(contentsOf: new)
        if count >= highWaterMark { isFull = true }
    }

    /// Lets `send` take bytes from the front; `send` returns how many bytes it took.
    ///
    /// - Complexity: amortised O(1) for each byte; sent bytes are moved out of the way when they are the larger part.
    mutating func take(_ send: (UnsafeRawBufferPointer) -> Int) {
        let taken = bytes.withUnsafeBytes { send(UnsafeRawBufferPointer(rebasing: $0[start...])) }
        start += max(0, taken)
        if start == bytes.count {
            // The memory of a burst is released.
            bytes.removeAll(keepingCapacity: bytes.capacity / 4 <= highWaterMark)
            start = 0
        } else if start > bytes.count / 2 {
            bytes.removeFirst(start)
            start = 0
        }
    }

    /// Whether the buffer was full and has become empty since the last call.
    mutating func takeDrained() -> Bool {
        guard isFull, isEmpty else { return false }
        isFull = false
        return true
    }
}
