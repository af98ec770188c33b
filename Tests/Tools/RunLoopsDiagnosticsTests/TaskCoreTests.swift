// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import Foundation
import RunLoopsSystem
import RunLoopsTestSupport
import Testing

@testable import RunLoopsDiagnostics

/// Writes the memory of a process as the kernel writes it when the process ends by a signal: private data is there, and code and
/// the beginnings of files are not.
private struct CoreWriter {
    private var notes: [UInt8] = []
    private var segments: [UInt8] = []
    private var data: [UInt8] = []
    private var count = 0

    static func core(of process: Int32) throws -> [UInt8] {
        let memory = try ProcessMemory(of: process)
        let regions = ProcessMemory.regions(memory.list)
        let lines = memory.list.split(separator: UInt8(ascii: "\n"))
        try #require(lines.count == regions.count)
        var writer = CoreWriter()
        var (files, names) = ([UInt8](), [UInt8]())
        var fileCount = 0
        for (region, line) in zip(regions, lines) {
            let fields = line.split(separator: UInt8(ascii: " "), maxSplits: 5)
            let rights = String(decoding: fields[1], as: UTF8.self)
            if region.path.first == UInt8(ascii: "/") {
                let offset = try #require(UInt64(String(decoding: fields[2], as: UTF8.self), radix: 16))
                for number in [region.start, region.end, offset / 4096] { files += Self.bytes(number) }
                names += Array(region.path) + [0]
                fileCount += 1
            }
            var content: [UInt8] = []
            let isBeginning = fields[2].allSatisfy { $0 == UInt8(ascii: "0") }
            let isData = rights.hasPrefix("rw") || (rights.hasPrefix("r--") && !isBeginning)
            if isData, rights.hasSuffix("p"), region.end - region.start < 1 << 28 {
                content = [UInt8](repeating: 0, count: Int(region.end - region.start))
                let isRead = content.withUnsafeMutableBytes { memory.read(region.start, into: $0) }
                if !isRead { content = [] }
            }
            writer.add(region, rights, content)
        }
        writer.note(6, [UInt8](try Data(contentsOf: URL(fileURLWithPath: "/proc/\(process)/auxv"))))
        writer.note(0x4649_4C45, Self.bytes(UInt64(fileCount)) + Self.bytes(UInt64(4096)) + files + names)
        var facts = [UInt8](repeating: 0, count: 136)
        facts.replaceSubrange(24..<28, with: Self.bytes(process))
        writer.note(3, facts)
        return writer.file
    }

    private static func bytes(_ number: some FixedWidthInteger) -> [UInt8] {
        withUnsafeBytes(of: number.littleEndian) { Array($0) }
    }

    private mutating func note(_ kind: UInt32, _ body: [UInt8]) {
        notes += Self.bytes(UInt32(5)) + Self.bytes(UInt32(body.count)) + Self.bytes(kind) + Array("CORE\0\0\0\0".utf8)
        notes += body + [UInt8](repeating: 0, count: (4 - body.count % 4) % 4)
    }

    private mutating func add(_ region: ProcessMemory.Region, _ rights: String, _ content: [UInt8]) {
        let flags = UInt32(
            (rights.contains("x") ? 1 : 0) | (rights.contains("w") ? 2 : 0) | (rights.contains("r") ? 4 : 0))
        segments += Self.bytes(UInt32(1)) + Self.bytes(flags) + Self.bytes(UInt64(data.count))
        segments += Self.bytes(region.start) + Self.bytes(UInt64(0)) + Self.bytes(UInt64(content.count))
        segments += Self.bytes(region.end - region.start) + Self.bytes(UInt64(1))
        data += content
        count += 1
    }

    private var file: [UInt8] {
        let table = (count + 1) * 56
        var file: [UInt8] = [0x7F, 0x45, 0x4C, 0x46, 2, 1, 1, 0] + [UInt8](repeating: 0, count: 8)
        file += Self.bytes(UInt16(4)) + Self.bytes(UInt16(62)) + Self.bytes(UInt32(1)) + Self.bytes(UInt64(0))
        file += Self.bytes(UInt64(64)) + Self.bytes(UInt64(0)) + Self.bytes(UInt32(0)) + Self.bytes(UInt16(64))
        file += Self.bytes(UInt16(56)) + Self.bytes(UInt16(count + 1)) + [UInt8](repeating: 0, count: 6)
        file += Self.bytes(UInt32(4)) + Self.bytes(UInt32(0)) + Self.bytes(UInt64(64 + table)) + Self.bytes(UInt64(0))
        file += Self.bytes(UInt64(0)) + Self.bytes(UInt64(notes.count)) + Self.bytes(UInt64(0)) + Self.bytes(UInt64(1))
        let start = UInt64(64 + table + notes.count)
        for index in 0..<count {
            var segment = Array(segments[index * 56..<index * 56 + 56])
            let offset = segment.withUnsafeBytes { $0.loadUnaligned(fromByteOffset: 8, as: UInt64.self) }
            segment.replaceSubrange(8..<16, with: Self.bytes(offset + start))
            file += segment
        }
        return file + notes + data
    }
}

@Suite(
    "The tasks of a core file", .ownThread,
    .enabled(if: BuiltPrograms.path("RunLoopsTasksPrograms") != nil))
struct TaskCoreTests {
    /// Calls the body with the path of a file that has the bytes.
    private func withFile<Value>(_ bytes: [UInt8], _ body: (String) throws -> Value) throws -> Value {
        let path = "/tmp/core-\(getpid())-\(UInt64.random(in: 0 ... .max))"
        try #require(FileManager.default.createFile(atPath: path, contents: Data(bytes)))
        defer { unlink(path) }
        return try body(path)
    }

    private func report(_ bytes: [UInt8]) throws -> TaskReport {
        try withFile(bytes) { try TaskReport(core: SystemText(prefixOf: $0.utf8)) }
    }

    private func core(_ scene: TaskScene) throws -> [UInt8] {
        kill(scene.number, SIGSTOP)
        return try CoreWriter.core(of: scene.number)
    }

    @Test func `the tasks of a core file are those of the process`() throws {
        let scene = try TaskScene("deadlock", "2")
        _ = try scene.report { !$0.rings.isEmpty }
        kill(scene.number, SIGSTOP)
        let living = try TaskReport(of: scene.number)
        let dead = try report(try core(scene))
        #expect(dead.lines == living.lines)
        #expect(dead.process == scene.number)
        #expect(dead.program == "RunLoopsTasksPrograms")
        let actor = try TaskScene("actor")
        _ = try actor.report(until: "taker", waitsFor: .actor("Store"))
        #expect(try report(try core(actor))["holder"] != nil)
    }

    @Test func `a file that is no core file, and one that is cut or changed, is refused or read as far as it goes`()
        throws
    {
        #expect(throws: TaskReport.Failure.noCore) { try report([]) }
        #expect(throws: TaskReport.Failure.noCore) { try report(Array("no core file".utf8)) }
        let scene = try TaskScene("continuation")
        _ = try scene.report { $0.tasks.contains { $0.wait == .continuation } }
        let bytes = try core(scene)
        #expect(throws: TaskReport.Failure.noCore) { try report(Array(bytes.prefix(64))) }
        for count in [65, 120, 1000, 5000, 20_000, 100_000] { _ = try? report(Array(bytes.prefix(count))) }
        try withFile(bytes) { path in
            var random = SeededRandom(56)
            let file = open(path, O_RDWR)
            defer { close(file) }
            for _ in 0..<fuzzedInputs(orElse: 40) {
                // The tables are at the beginning.
                let places = (0..<Int.random(in: 1...8, using: &random)).map { _ in
                    Int.random(in: 0..<min(bytes.count, 65_536), using: &random)
                }
                for place in places {
                    var byte = UInt8.random(in: 0...255, using: &random)
                    pwrite(file, &byte, 1, off_t(place))
                }
                // Refused or read: the tool goes on.
                _ = try? TaskReport(core: SystemText(prefixOf: path.utf8))
                for place in places {
                    var byte = bytes[place]
                    pwrite(file, &byte, 1, off_t(place))
                }
            }
        }
    }
}
