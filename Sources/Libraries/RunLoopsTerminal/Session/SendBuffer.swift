// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

/// Bytes that a device has not taken yet, in order.
struct SendBuffer {
    private var bytes: [UInt8] = []
    /// How many of the bytes the device has taken; they are removed together, since each removal moves all the others.
    private var sent = 0

    var isEmpty: Bool { sent == bytes.count }

    /// - Complexity: O(n) in the appended bytes, amortised.
    mutating func append(_ more: [UInt8]) {
        if isEmpty {
            (bytes, sent) = (more, 0)
            return
        }
        if sent > bytes.count / 2 {
            bytes.removeFirst(sent)
            sent = 0
        }
        bytes += more
    }

    /// Calls `body` with the bytes that are left.
    func withBytes<Result>(_ body: (UnsafeRawBufferPointer) -> Result) -> Result {
        bytes.withUnsafeBytes { body(UnsafeRawBufferPointer(rebasing: $0[sent...])) }
    }

    /// Removes the first bytes, which the device has taken.
    ///
    /// - Complexity: O(1).
    mutating func removeFirst(_ count: Int) {
        sent += count
        if isEmpty { removeAll() }
    }

    mutating func removeAll() { (bytes, sent) = ([], 0) }
}
