// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import CRunLoopsKernel
import Glibc
import RunLoopsSystem
import RunLoopsTestSupport
import Testing

/// The entries of directories, from bytes and from the system.
@Suite(.ownThread, .leavesNothing) struct DirectoryEntriesTests {
    /// An entry as the kernel writes it: the number and the offset, its length, the type, the name, a zero and padding.
    private static func record(_ name: [UInt8], type: UInt8 = 4, length: Int? = nil) -> [UInt8] {
        let padded = (19 + name.count + 1 + 7) / 8 * 8
        let length = UInt16(length ?? padded)
        let head = [UInt8](repeating: 1, count: 16) + withUnsafeBytes(of: length) { Array($0) } + [type]
        return head + name + [UInt8](repeating: 0, count: padded - head.count - name.count)
    }

    /// The names, read from memory that has nothing behind its last byte; `nil` after bytes that are no entries.
    private static func names(_ bytes: [UInt8]) -> [[UInt8]?] {
        let copy = UnsafeMutableRawPointer.allocate(byteCount: max(1, bytes.count), alignment: 1)
        defer { copy.deallocate() }
        bytes.withUnsafeBytes {
            copy.copyMemory(from: $0.baseAddress ?? UnsafeRawPointer(copy), byteCount: bytes.count)
        }
        var names: [[UInt8]?] = []
        var place = 0
        var entry = rl_directory_entry()
        while case let result = rl_directory_next(copy, bytes.count, &place, &entry), result != 0 {
            guard result == 1 else { return names + [nil] }
            names.append(UnsafeRawBufferPointer(start: entry.name, count: entry.length).map { $0 })
        }
        return names
    }

    @Test(arguments: [1, 12, 13, 255, 256, 300, 1000, 4095])
    func `A name of a directory entry may have any length`(_ length: Int) {
        let name = [UInt8](repeating: UInt8(ascii: "n"), count: length)
        let bytes = Self.record(Array(".".utf8)) + Self.record(name, type: 8) + Self.record(name)
        #expect(Self.names(bytes) == [Array(".".utf8), name, name])
    }

    @Test func `Bytes that are no directory entries end the entries with an error, and are not left`() {
        let good = Self.record(Array("good".utf8))
        #expect(Self.names([]) == [])
        for count in 1..<good.count { #expect(Self.names(Array(good[..<count])) == [nil]) }
        #expect(Self.names(good + good.dropLast()) == [Array("good".utf8), nil])
        for length in [0, 1, 18, 19, 25, 65535] { #expect(Self.names(Self.record([1, 2], length: length)) == [nil]) }
        // Without a zero in the record.
        #expect(Self.names(Self.record([1, 2, 3, 4, 5], length: 24)) == [nil])
        #expect(Self.names(Self.record([], length: 20)) == [[], nil])
    }

    @Test func `Random bytes never lead outside of them`() {
        var random = SeededRandom(51)
        for _ in 0..<20_000 {
            var bytes = (0..<Int.random(in: 0...3, using: &random)).flatMap { _ in
                Self.record([UInt8](repeating: 7, count: .random(in: 0...40, using: &random)))
            }
            for _ in 0..<Int.random(in: 0...4, using: &random) where !bytes.isEmpty {
                bytes[.random(in: bytes.indices, using: &random)] = .random(in: 0...255, using: &random)
            }
            _ = Self.names(bytes)
        }
    }

    @Test func `read passes each name and kind until body returns false, and finds no entry in a removed directory`()
        throws
    {
        let directory = TemporaryDirectory()
        directory.write(String(repeating: "f", count: 255))
        directory.makeDirectory("directory")
        try #require(symlink("directory", directory.path("link")) == 0)
        let file = rl_directory_open(directory.path)
        try #require(file >= 0)
        defer { close(file) }
        var found: [String: Bool] = [:]
        let result = DirectoryEntries.read(file) { name, isDirectory in
            found[name.decoded] = isDirectory
            return true
        }
        #expect(result == 0)
        #expect(found == [String(repeating: "f", count: 255): false, "directory": true, "link": false])
        lseek(file, 0, SEEK_SET)
        var count = 0
        #expect(
            DirectoryEntries.read(file) { _, _ in
                count += 1
                return false
            } == 0)
        #expect(count == 1)
        let gone = rl_directory_open(directory.path("directory"))
        try #require(gone >= 0)
        defer { close(gone) }
        rmdir(directory.path("directory"))
        #expect(DirectoryEntries.read(gone) { _, _ in true } == 0)
        #expect(rl_directory_open(directory.path("link")) == -ENOTDIR)
        #expect(DirectoryEntries.read(-1) { _, _ in true } == -EBADF)
    }

    @Test func `The directory of a test is removed with names that are not UTF-8, and nothing behind a link is`() throws
    {
        let other = TemporaryDirectory()
        other.write("kept")
        var path = ""
        do {
            let directory = TemporaryDirectory()
            path = directory.path
            try #require(symlink(other.path, directory.path("link")) == 0)
            let name: [CChar] = Array((directory.path + "/").utf8CString.dropLast()) + [-1, -2, 0]
            try #require(mkdir(name, 0o700) == 0)
            try #require(mkdir(name.dropLast() + Array("/inner".utf8CString), 0o700) == 0)
        }
        #expect(access(path, F_OK) != 0)
        #expect(access(other.path("kept"), F_OK) == 0)
    }
}
