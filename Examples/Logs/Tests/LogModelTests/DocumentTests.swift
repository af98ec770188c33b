// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import Glibc
import RunLoops
import RunLoopsKit
import Testing

@testable import LogModel

/// A file of a test, gone at its end.
final class TestFile {
    let path: String
    private let directory: String

    init(_ contents: [UInt8]? = []) {
        var template = Array("/tmp/logs-XXXXXX".utf8CString)
        directory = String(cString: mkdtemp(&template))
        path = directory + "/test.log"
        if let contents { write(contents) }
    }

    deinit {
        unlink(path)
        unlink(path + ".1")
        rmdir(directory)
    }

    func write(_ bytes: [UInt8], flags: CInt = O_TRUNC) {
        let descriptor = open(path, O_WRONLY | O_CREAT | O_CLOEXEC | flags, 0o600)
        var written = 0
        while written < bytes.count {
            written += bytes[written...].withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
        }
        close(descriptor)
    }

    func write(_ text: String) { write(Array(text.utf8)) }
    func append(_ text: String) { write(Array(text.utf8), flags: O_APPEND) }
    func rotate() { rename(path, path + ".1") }
}

/// What a document should be, by plain means.
struct Reference {
    let lines: [[UInt8]]

    init(_ bytes: [UInt8]) {
        var lines = bytes.split(separator: 10, omittingEmptySubsequences: false).map(Array.init)
        if lines.last == [] { lines.removeLast() }
        self.lines = lines
    }

    func containing(_ text: String, ignoresCase: Bool) -> [Int] {
        func fold(_ bytes: [UInt8]) -> [UInt8] {
            ignoresCase ? bytes.map { (65...90).contains($0) ? $0 + 32 : $0 } : bytes
        }
        let needle = Array(text.utf8)
        return lines.indices.filter { line in
            let bytes = fold(lines[line])
            return bytes.count >= needle.count
                && (0...bytes.count - needle.count).contains { bytes[$0..<$0 + needle.count].elementsEqual(needle) }
        }
    }
}

@MainActor @Suite(.serialized) struct DocumentTests {
    let thread: RunLoopThread

    init() throws { thread = try RunLoopThread(name: "loader") }

    private func open(_ file: TestFile, portion: Int = 4096) -> LogDocument {
        let document = LogDocument(path: file.path, loader: thread.loop, watches: true, portion: portion)
        run { document.file != nil && document.isComplete }
        return document
    }

    /// Runs the loop of this thread until something is true; never, if it does not come true.
    private func run(until condition: () -> Bool) {
        // Something that the run waits for.
        let timer = RunLoop.Timer(.after(.seconds(3600))) { _ in }
        RunLoop.current.add(timer, in: .default)
        defer { timer.invalidate() }
        while !condition() { RunLoop.current.run(in: .default, for: .milliseconds(2)) }
    }

    private func check(_ document: LogDocument, _ bytes: [UInt8]) {
        let reference = Reference(bytes)
        #expect(document.lines.count == reference.lines.count)
        #expect(document.size == bytes.count)
        let rows =
            document.filter.map { reference.containing($0.pattern.text, ignoresCase: $0.pattern.ignoresCase) }
            ?? Array(reference.lines.indices)
        guard document.rowCount == rows.count else {
            Issue.record("\(document.rowCount) rows, not \(rows.count)")
            return
        }
        for (row, line) in rows.enumerated() {
            var expected = reference.lines[line]
            if expected.last == 13 { expected.removeLast() }
            if document.line(ofRow: row) != line || document.bytes(ofRow: row, limit: .max / 2) != expected {
                Issue.record("Row \(row) is not line \(line).")
            }
        }
    }

    private func randomBytes(_ count: Int) -> [UInt8] {
        let alphabet = Array("abAB \n\n\r\u{1B}é日".utf8) + [0, 0xFF]
        return (0..<count).map { _ in alphabet.randomElement() ?? 0 }
    }

    @Test func `A document of random bytes has the lines and filtered rows that a plain implementation finds`() {
        for (count, portion) in [(0, 64), (1, 64), (100, 4), (3000, 64), (4095, 4096), (4097, 4096), (70_000, 1000)] {
            let bytes = randomBytes(count)
            let document = open(TestFile(bytes), portion: portion)
            check(document, bytes)
            for text in ["ab", "AB", "é", "b a"] {
                document.setFilter(Pattern(text))
                run { document.isComplete }
                check(document, bytes)
            }
            document.setFilter(nil)
            check(document, bytes)
            document.close()
        }
    }

    @Test(arguments: ["", "\n", "\n\n", "a", "a\n", "a\r\nb\r\n", "\r\n", "a\nb"])
    func `The lines of short files are right with and without a line feed at the end`(_ text: String) {
        let bytes = Array(text.utf8)
        let document = open(TestFile(bytes))
        check(document, bytes)
        document.close()
    }

    @Test func `A match that lies across two portions is found once`() {
        for distance in -4...1 {
            var bytes = [UInt8](repeating: 120, count: 12_000)
            let place = 4096 + distance
            bytes.replaceSubrange(place..<place + 5, with: Array("ERROR".utf8))
            bytes.replaceSubrange(8000..<8005, with: Array("ERROR".utf8))
            let document = open(TestFile(bytes))
            document.setSearch(Pattern("ERROR"))
            run { document.isComplete }
            #expect(document.search?.matches.count == 1)
            #expect(document.search?.matches[0] == place)
            document.close()
        }
    }

    @Test func `A document reports its first lines before the rest is read, and a search can be cancelled meanwhile`() {
        let line = Array("a line of a log with an error\n".utf8)
        let file = TestFile([UInt8]((0..<50_000).lazy.map { _ in line }.joined()))
        // Everything on this loop, so that nothing is left to time.
        let portion = 1 << 17
        let document = LogDocument(path: file.path, loader: .current, watches: false, portion: portion)
        var first: Int?
        document.changed = { [unowned document] _ in
            if first == nil, document.lines.scanned > 0 {
                first = document.lines.scanned
                document.setSearch(Pattern("error"))
            } else if document.search?.matches.count ?? 0 > 0 {
                document.setSearch(nil)
            }
        }
        run { document.lines.count == 50_000 && document.isComplete }
        #expect(first == 1 << 16)
        #expect(document.search == nil)
        // All of it for the index, and a few portions for the search.
        let (size, read) = (document.size, document.file?.bytesRead ?? 0)
        #expect(read > size && read <= size + 4 * portion)
        document.close()
    }

    @Test func `A file that grows by parts of lines is followed, with filter and search`() {
        let file = TestFile()
        let document = open(file)
        document.setFilter(Pattern("ab"))
        document.setSearch(Pattern("ba"))
        var all: [UInt8] = []
        for part in ["x", "a", "b", "\n", "no\nba", "bab\n\nab", "\r\n", "end ab"] {
            file.append(part)
            all += Array(part.utf8)
            run { document.size == all.count && document.isComplete }
            check(document, all)
        }
        let reference = Reference(all).containing("ba", ignoresCase: true)
        #expect(document.search?.matches.count == reference.count)
        document.setFilter(nil)
        check(document, all)
        document.close()
    }

    @Test func `A truncated file is read again from its beginning`() {
        let file = TestFile(randomBytes(10_000))
        let document = open(file)
        document.setFilter(Pattern("new"))
        var resets = 0
        document.changed = { if $0 == .everything { resets += 1 } }
        file.write("a new one\n")
        run { document.size == 10 && document.isComplete }
        check(document, Array("a new one\n".utf8))
        #expect(resets >= 1)
        document.close()
    }

    @Test func `A new file at the path is opened, even after a time without a file`() {
        let file = TestFile(Array("old\n".utf8))
        let document = open(file)
        file.rotate()
        file.write("new file\n")
        run { document.size == 9 && document.isComplete }
        check(document, Array("new file\n".utf8))
        unlink(file.path)
        file.write("third\n")
        file.append("fourth\n")
        run { document.size == 13 && document.isComplete }
        check(document, Array("third\nfourth\n".utf8))
        document.close()
    }

    @Test func `A missing file is awaited, and a directory is refused`() {
        let file = TestFile(nil)
        let document = LogDocument(path: file.path, loader: thread.loop)
        run { document.error != nil }
        #expect(document.error == LogError("No such file or directory"))
        file.write("here\n")
        run { document.size == 5 && document.isComplete }
        check(document, Array("here\n".utf8))
        #expect(document.error == nil)
        document.close()

        let directory = LogDocument(path: "/tmp", loader: thread.loop)
        run { directory.error != nil }
        #expect(directory.error == LogError("not a regular file"))
        directory.close()
    }

    @Test func `A search step goes to the next match, wraps at both ends and skips hidden lines`() {
        let document = open(TestFile(Array("x\nhit a\nx\nhit b\nx\nhit a\n".utf8)))
        #expect(document.step(from: 0, backwards: false) == .none)
        document.setSearch(Pattern("hit"))
        #expect(document.step(from: 0, backwards: false) == .unknown)
        run { document.isComplete }
        #expect(document.step(from: 0, backwards: false) == .row(1, isWrapped: false))
        #expect(document.step(from: 1, backwards: false) == .row(3, isWrapped: false))
        #expect(document.step(from: 5, backwards: false) == .row(1, isWrapped: true))
        #expect(document.step(from: 3, backwards: true) == .row(1, isWrapped: false))
        #expect(document.step(from: 1, backwards: true) == .row(5, isWrapped: true))
        document.setFilter(Pattern("a"))
        run { document.isComplete }
        #expect(document.step(from: 0, backwards: false) == .row(1, isWrapped: false))
        #expect(document.row(ofLine: 2) == 1)
        document.setSearch(Pattern("x"))
        run { document.isComplete }
        #expect(document.step(from: 0, backwards: false) == .none)
        document.close()
    }
}
