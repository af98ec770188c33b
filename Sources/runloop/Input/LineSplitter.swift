// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

/// Cuts a stream of bytes into lines, whatever the pieces it comes in.
struct LineSplitter: Sendable {
    /// A line without an end is cut here: what is never ended must not grow for ever.
    static let limit = 4096

    private var rest: [UInt8] = []

    /// Takes more bytes in and returns the lines they complete, without their ends.
    mutating func take(_ bytes: some Sequence<UInt8>) -> [String] {
        var lines: [String] = []
        for byte in bytes {
            if byte == UInt8(ascii: "\n") {
                lines.append(cut())
            } else {
                rest.append(byte)
                if rest.count == Self.limit { lines.append(cut()) }
            }
        }
        return lines
    }

    /// The last line, if the stream ended without ending it.
    mutating func finish() -> String? { rest.isEmpty ? nil : cut() }

    private mutating func cut() -> String {
        if rest.last == UInt8(ascii: "\r") { rest.removeLast() }
        defer { rest.removeAll(keepingCapacity: true) }
        // Bytes that are not UTF-8 are repaired: a demo shows what came, it does not refuse it.
        return String(decoding: rest, as: UTF8.self)
    }
}
