// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import LogModel

@Suite struct OffsetListTests {
    @Test func `A list of offsets returns the same values as an array, including offsets above 4 GiB`() {
        var random = SystemRandomNumberGenerator()
        var (list, array, offset) = (OffsetList(), [Int](), 0)
        for step in 0..<50_000 {
            offset += step % 20_000 == 19_999 ? 5 << 32 : Int.random(in: 1...200, using: &random)
            list.append(offset)
            array.append(offset)
        }
        #expect(list.count == array.count)
        #expect(list.last == array.last)
        #expect(array.indices.allSatisfy { list[$0] == array[$0] })
        for _ in 0..<2000 {
            let position = Int.random(in: 0..<array.count, using: &random)
            #expect(list.count(below: array[position]) == position)
            #expect(list.count(below: array[position] + 1) == position + 1)
        }
        #expect(list.count(below: 0) == 0)
        #expect(list.count(below: .max) == array.count)
    }

    @Test func `The offsets of a million lines of 100 bytes take about four bytes per line`() {
        var list = OffsetList()
        for line in 1...1_000_000 { list.append(line * 100) }
        #expect(list.byteCount < 4_200_000)
    }

    @Test func `A pattern finds what a plain comparison finds`() {
        for text in ["a", "ab", "ERROR", "error", "é", "00:0"] {
            for line in ["", "a", "ab AB aab", "an ERROR and an error", "Éé é 00:00:0", "errorerror"] {
                let pattern = Pattern(text)!
                let haystack = pattern.ignoresCase ? line.asciiFolded : line
                let (bytes, needle) = (Array(haystack.utf8), Array(text.utf8))
                var (expected, index) = ([Int](), 0)
                while index + needle.count <= bytes.count {
                    if Array(bytes[index..<index + needle.count]) == needle {
                        expected.append(index)
                        index += needle.count
                    } else {
                        index += 1
                    }
                }
                let found = pattern.matches(in: line).map {
                    line.utf8.distance(from: line.startIndex, to: $0.lowerBound)
                }
                #expect(found == expected, "\(text) in \(line)")
            }
        }
        #expect(Pattern("") == nil)
    }
}

extension String {
    fileprivate var asciiFolded: String {
        String(decoding: utf8.map { (65...90).contains($0) ? $0 + 32 : $0 }, as: UTF8.self)
    }
}
