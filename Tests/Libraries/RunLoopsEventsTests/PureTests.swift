// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import Glibc
import RunLoops
import RunLoopsSystem
import RunLoopsTestSupport
import Testing

@testable import RunLoopsEvents

/// Decisions without a system: values in, values out.
@Suite(.ownThread, .leavesNothing) struct PureTests {
    // MARK: Output

    @Test func `Bytes are read in the order in which they are written, whatever the sizes of the portions`() {
        var buffer = OutputBuffer(highWaterMark: 100)
        var sent: [UInt8] = []
        var next: UInt8 = 0
        for round in 0..<200 {
            for _ in 0..<(round % 7) {
                buffer.append([next])
                next &+= 1
            }
            buffer.take { bytes in
                let count = min(bytes.count, round % 5)
                sent += bytes[..<count]
                return count
            }
        }
        while !buffer.isEmpty {
            buffer.take { bytes in
                sent += bytes
                return bytes.count
            }
        }
        #expect(sent == (0..<sent.count).map { UInt8(truncatingIfNeeded: $0) })
    }

    @Test func `A buffer is full from when it reaches its high-water mark until it is empty again`() {
        var buffer = OutputBuffer(highWaterMark: 10)
        buffer.append(repeatElement(0, count: 9))
        #expect(!buffer.isFull)
        buffer.append([0])
        #expect(buffer.isFull)
        buffer.take { _ in 9 }
        #expect(buffer.isFull)
        let isEarly = buffer.takeDrained()
        #expect(!isEarly)
        // An error takes nothing.
        buffer.take { _ in -1 }
        #expect(buffer.count == 1)
        buffer.take { _ in 1 }
        let answers = (buffer.takeDrained(), buffer.takeDrained())
        #expect(answers == (true, false))
    }

    // MARK: Records of changes

    @Test func `The records of inotify are parsed in order, with their names`() {
        let expected = [
            record(1, 2, cookie: 3, name: "name"), record(4, 5), record(-1, UInt32(IN_Q_OVERFLOW)),
            record(6, 7, cookie: 8, name: "sixteen byte nam"),
        ]
        let bytes = expected.flatMap(written)
        #expect(bytes.withUnsafeBytes { InotifyRecord.parse($0) } == expected)
        // Cut short, which the kernel does not do, it does not read past the end.
        for count in 0..<bytes.count { _ = bytes[..<count].withUnsafeBytes { InotifyRecord.parse($0) } }
    }

    @Test func `Parsing random bytes as records of inotify does not trap`() {
        var random = SystemRandomNumberGenerator()
        for _ in 0..<2000 {
            let count = Int.random(in: 0...200, using: &random)
            let bytes = (0..<count).map { _ in UInt8.random(in: 0...255, using: &random) }
            let records = bytes.withUnsafeBytes { InotifyRecord.parse($0) }
            #expect(records.count <= bytes.count / 16)
        }
    }

    @Test func `The two records of a move are paired even with other records between them`() {
        let records = [
            move(IN_MOVED_TO, 1), move(IN_MOVED_FROM, 2), move(IN_MOVED_FROM, 3), InotifyRecord(watch: 1, mask: 8),
            move(IN_MOVED_TO, 3), move(IN_MOVED_TO, 2), move(IN_MOVED_FROM, 4),
        ]
        let pairs = MovePairs(records)
        #expect(records.indices.map { pairs.second(of: $0) } == [nil, 5, 4, nil, nil, nil, nil])
        #expect(records.indices.filter { pairs.isSecond($0) } == [4, 5])
        #expect(pairs.isIncomplete)
        #expect(!MovePairs(Array(records.dropLast())).isIncomplete)
    }

    private func move(_ half: CInt, _ cookie: UInt32) -> InotifyRecord {
        record(1, UInt32(bitPattern: half), cookie: cookie, name: "x")
    }

    private func record(_ watch: CInt, _ mask: UInt32, cookie: UInt32 = 0, name: String = "") -> InotifyRecord {
        let name = SystemText(prefixOf: name.utf8)
        return InotifyRecord(
            watch: watch, mask: mask, cookie: cookie, name: name, size: 16 + length(of: name))
    }

    /// The name with a zero at least, up to a multiple of sixteen.
    private func length(of name: SystemText) -> Int { name.isEmpty ? 0 : (name.bytes.count / 16 + 1) * 16 }

    private func written(_ record: InotifyRecord) -> [UInt8] {
        let length = length(of: record.name)
        let header = [UInt32(bitPattern: record.watch), record.mask, record.cookie, UInt32(length)]
        let padding = [UInt8](repeating: 0, count: length - record.name.bytes.count)
        return header.flatMap { value in withUnsafeBytes(of: value) { Array($0) } } + record.name.bytes + padding
    }
}
