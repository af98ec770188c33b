// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

/// The number of one of a loop's buckets, in two bytes, because every timer has one.
struct BucketNumber: BitwiseCopyable, Hashable, Sendable {
    private let raw: UInt16

    static let none = BucketNumber(raw: 0)
    static var maxCount: Int { Int(UInt16.max) }

    private init(raw: UInt16) { self.raw = raw }

    /// Makes the number of the bucket at an index.
    ///
    /// - Precondition: less than `maxCount`.
    init(index: Int) { raw = UInt16(index + 1) }

    /// The index of the bucket.
    ///
    /// - Precondition: not `none`.
    var index: Int { Int(raw) - 1 }
}
