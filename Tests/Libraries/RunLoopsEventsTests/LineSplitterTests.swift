// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import RunLoops
import RunLoopsTestSupport
import Testing

@testable import RunLoopsEvents

/// Lines found in bytes, however the bytes are portioned.
@Suite(.ownThread) struct LineSplitterTests {
    /// What a format makes of the text, in portions of `size` bytes.
    private func decode<Element>(
        _ bytes: [UInt8], as format: InputFormat<Element>, by size: Int
    ) -> ([Element], RunLoop.InputError?) {
        let decode = format.makeDecoder()
        var elements: [Element] = []
        do throws(RunLoop.InputError) {
            for start in stride(from: 0, to: bytes.count, by: size) {
                let portion = Array(bytes[start..<min(bytes.count, start + size)])
                try portion.withUnsafeBufferPointer { (portion) throws(RunLoop.InputError) in
                    try decode(UnsafeRawBufferPointer(portion), &elements)
                }
            }
            try decode(nil, &elements)
            return (elements, nil)
        } catch {
            return (elements, error)
        }
    }

    @Test(arguments: 1...7)
    func `Lines do not depend on the portions in which the input is read`(_ size: Int) {
        let text = "eins\nzwei\r\n\n\r\ndrei \r vier\näöü€🎈\nohne Ende"
        let lines = decode(Array(text.utf8), as: .lines, by: size)
        #expect(lines.0 == ["eins", "zwei", "", "", "drei \r vier", "äöü€🎈", "ohne Ende"])
        #expect(lines.1 == nil)
        #expect(decode(Array(text.utf8), as: .lines(limit: 100, isValidated: true), by: size).0 == lines.0)
        #expect(decode(Array(text.utf8), as: .byteLines, by: size).0 == lines.0.map { Array($0.utf8) })
        #expect(decode(Array(text.utf8), as: .bytes, by: size).0 == Array(text.utf8))
    }

    @Test(arguments: [[UInt8](), Array("\n".utf8), Array("\r".utf8), Array("a\r".utf8), Array("\r\n".utf8)])
    func `At the end of input only bytes after the last line feed make a further line`(_ bytes: [UInt8]) {
        let expected: [[UInt8]] =
            switch bytes.last {
            case nil: []
            case UInt8(ascii: "\n"): [[]]
            default: [bytes]
            }
        #expect(decode(bytes, as: .byteLines, by: 1).0 == expected)
    }

    @Test(arguments: 1...9)
    func `A line as long as the limit is accepted, and a longer line fails after the earlier lines`(_ size: Int) {
        for end in ["\n", "\r\n", ""] {
            let good = decode(Array("a\n12345\(end)".utf8), as: .lines(limit: 5), by: size)
            #expect(good.0 == ["a", "12345"])
            #expect(good.1 == nil)
            let bad = decode(Array("a\n123456\(end)".utf8), as: .lines(limit: 5), by: size)
            #expect(bad.0 == ["a"])
            #expect(bad.1 == .lineTooLong(limit: 5))
        }
    }

    @Test(arguments: 1...6)
    func `Bytes that are not UTF-8 are repaired or refused, whatever the portions in which they are read`(_ size: Int) {
        // A good line, an overlong slash, the first half of a euro sign, a byte that is never used.
        for wrong in [[0xC0, 0xAF], [0xE2, 0x82], [0xFF]] as [[UInt8]] {
            let bytes = Array("€\n".utf8) + wrong + Array("x\ny\n".utf8)
            let repaired = decode(bytes, as: .lines, by: size)
            #expect(repaired.0.count == 3)
            #expect(repaired.0[1] == String(decoding: wrong, as: UTF8.self) + "x")
            #expect(repaired.0[1].unicodeScalars.contains("\u{FFFD}"))
            let refused = decode(bytes, as: .lines(limit: 100, isValidated: true), by: size)
            #expect(refused.0 == ["€"])
            #expect(refused.1 == .invalidUTF8)
        }
    }

    @Test func `A line without an end is never buffered beyond the limit`() {
        var splitter = LineSplitter(limit: 1000)
        let portion = [UInt8](repeating: 0x61, count: 300)
        var failure: RunLoop.InputError?
        while failure == nil, splitter.begun.count <= 1000 {
            portion.withUnsafeBytes { bytes in
                do throws(RunLoop.InputError) { try splitter.split(bytes) { _ in } } catch { failure = error }
            }
        }
        #expect(failure == .lineTooLong(limit: 1000))
        #expect(splitter.begun.count == 900)
    }

    @Test func `Random bytes in random portions give the same lines as a simple implementation`() {
        var random = SeededRandom(17)
        for _ in 0..<fuzzedInputs(orElse: 300) {
            let bytes = (0..<Int.random(in: 0..<60, using: &random)).map { _ -> UInt8 in
                [10, 13, 97, 0xE2, 0x82, 0xAC].randomElement(using: &random) ?? 10
            }
            var expected = bytes.split(separator: 10, omittingEmptySubsequences: false).map(Array.init)
            let last = expected.removeLast()
            expected = expected.map { $0.last == 13 ? Array($0.dropLast()) : $0 } + (last.isEmpty ? [] : [last])
            let size = Int.random(in: 1...20, using: &random)
            #expect(decode(bytes, as: .byteLines, by: size).0 == expected)
            #expect(decode(bytes, as: .lines, by: size).0 == expected.map { String(decoding: $0, as: UTF8.self) })
        }
    }
}
