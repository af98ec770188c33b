// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import Glibc
import RunLoops
import RunLoopsSystem
import RunLoopsTestSupport
import Testing

@testable import RunLoopsDiagnostics

extension TemporaryDirectory {
    /// What is in it, in order.
    fileprivate var names: [String] {
        guard let directory = opendir(path) else { return [] }
        defer { closedir(directory) }
        var names: [String] = []
        while let entry = readdir(directory) {
            names.append(
                withUnsafeBytes(of: entry.pointee.d_name) {
                    String(cString: $0.bindMemory(to: CChar.self).baseAddress!)
                })
        }
        return names.filter { $0 != "." && $0 != ".." }.sorted()
    }

    fileprivate func text(_ name: String) -> String? {
        guard let file = fopen("\(path)/\(name)", "re") else { return nil }
        defer { fclose(file) }
        var bytes: [UInt8] = []
        while case let byte = fgetc(file), byte != EOF { bytes.append(UInt8(truncatingIfNeeded: byte)) }
        return String(decoding: bytes, as: UTF8.self)
    }
}

@Suite("Replacing a file", .ownThread)
struct FileReplacementTests {
    private let folder = TemporaryDirectory()

    private func write(_ text: String, _ name: String) throws {
        try FileReplacement.write(text, to: "\(folder.path)/\(name)")
    }

    private func check(_ path: String) throws(RunLoop.SystemCallError) {
        try FileReplacement.check(SystemText(path, for: "open"))
    }

    private func mode(_ name: String) -> mode_t {
        var status = stat()
        return lstat("\(folder.path)/\(name)", &status) == 0 ? status.st_mode : 0
    }

    @Test func `replacing a file keeps its permissions and leaves no temporary file`() throws {
        try write("old", "file")
        chmod("\(folder.path)/file", 0o600)
        try write("new", "file")
        #expect(folder.text("file") == "new")
        #expect(mode("file") == S_IFREG | 0o600)
        #expect(folder.names == ["file"])
    }

    @Test func `a reader finds the whole old file or the whole new file`() throws {
        let texts = ["a", "b"].map { String(repeating: $0, count: 100_000) }
        try write(texts[0], "file")
        let isDone = Locked(false)
        let path = folder.path
        let writer = TestThread {
            for round in 1...200 { try? FileReplacement.write(texts[round & 1], to: "\(path)/file") }
            isDone.withLock { $0 = true }
        }
        while !isDone.withLock({ $0 }) { #expect(texts.contains(folder.text("file") ?? "")) }
        writer.join()
    }

    @Test func `a pipe, a directory, a device and links to them are refused and kept`() throws {
        let place = folder.path
        mkfifo("\(place)/pipe", 0o600)
        symlink("pipe", "\(place)/link")
        for name in ["pipe", "link"] {
            let error = #expect(throws: RunLoop.SystemCallError.self) { try write("x", name) }
            #expect(error?.code == EEXIST)
        }
        #expect(mode("pipe") & S_IFMT == S_IFIFO && mode("link") & S_IFMT == S_IFLNK)
        let folderError = #expect(throws: RunLoop.SystemCallError.self) { try check(place) }
        #expect(folderError?.code == EISDIR)
        let deviceError = #expect(throws: RunLoop.SystemCallError.self) { try check("/dev/null") }
        #expect(deviceError?.code == EEXIST)
        #expect(folder.names == ["link", "pipe"])
    }

    @Test func `a link to a regular file or to a missing file is replaced`() throws {
        try write("kept", "target")
        for target in ["target", "nothing"] {
            symlink(target, "\(folder.path)/link")
            try write("new", "link")
            #expect(mode("link") & S_IFMT == S_IFREG && folder.text("link") == "new")
            unlink("\(folder.path)/link")
        }
        #expect(folder.text("target") == "kept" && folder.names == ["target"])
    }

    @Test func `check throws for a missing folder`() {
        let error = #expect(throws: RunLoop.SystemCallError.self) { try check("\(folder.path)/no/file") }
        #expect(error?.code == ENOENT)
    }
}
