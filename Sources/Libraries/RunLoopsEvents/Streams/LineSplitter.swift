// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

internal import RunLoops
internal import RunLoopsLibC

/// Finds the lines in bytes that come in portions.
///
/// A line ends with a line feed, or with carriage return and line feed; the last one may end with the input. Pure: knows
/// nothing of descriptors.
struct LineSplitter {
    /// How many bytes a line may have, its end not counted.
    let limit: Int
    /// The beginning of a line whose end has not come.
    private(set) var begun: [UInt8] = []

    private static let lineFeed = UInt8(ascii: "\n")
    private static let carriageReturn = UInt8(ascii: "\r")

    init(limit: Int) { self.limit = limit }

    /// Calls `take` with each line that ends in these bytes, until it throws.
    ///
    /// - Throws: `lineTooLong` for the first line that has more bytes than the limit, ended or not; what `take` throws.
    /// - Complexity: O(n) in the bytes; the kept bytes are fewer than the limit and two.
    mutating func split(
        _ bytes: UnsafeRawBufferPointer, _ take: (UnsafeRawBufferPointer) throws(RunLoop.InputError) -> Void
    ) throws(RunLoop.InputError) {
        var rest = bytes
        while let start = rest.baseAddress, let end = memchr(start, CInt(Self.lineFeed), rest.count) {
            let length = UnsafeRawPointer(end) - start
            let line = UnsafeRawBufferPointer(start: start, count: length)
            rest = UnsafeRawBufferPointer(rebasing: rest[(length + 1)...])
            if begun.isEmpty {
                try hand(line, take)
            } else {
                let whole = begun + line
                begun = []
                try whole.withUnsafeBufferPointer { (line) throws(RunLoop.InputError) in
                    try hand(UnsafeRawBufferPointer(line), take)
                }
            }
        }
        // A carriage return may be half of the end.
        let half = (rest.last ?? begun.last) == Self.carriageReturn ? 1 : 0
        guard begun.count + rest.count - half <= limit else { throw .lineTooLong(limit: limit) }
        begun += rest
    }

    /// Calls `take` with the last line, if the input does not end with the end of a line.
    mutating func end(
        _ take: (UnsafeRawBufferPointer) throws(RunLoop.InputError) -> Void
    ) throws(RunLoop.InputError) {
        defer { begun = [] }
        if begun.isEmpty { return }
        guard begun.count <= limit else { throw .lineTooLong(limit: limit) }
        try begun.withUnsafeBufferPointer { (line) throws(RunLoop.InputError) in try take(UnsafeRawBufferPointer(line))
        }
    }

    private func hand(
        _ line: UnsafeRawBufferPointer, _ take: (UnsafeRawBufferPointer) throws(RunLoop.InputError) -> Void
    ) throws(RunLoop.InputError) {
        let length = line.last == Self.carriageReturn ? line.count - 1 : line.count
        guard length <= limit else { throw .lineTooLong(limit: limit) }
        try take(UnsafeRawBufferPointer(rebasing: line[..<length]))
    }
}
