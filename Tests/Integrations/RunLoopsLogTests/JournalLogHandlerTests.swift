// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

#if Log
import Glibc
import Logging
import RunLoops
import RunLoopsLog
import RunLoopsTesting
import RunLoopsTestSupport
import Testing

private struct Failure: Error, CustomStringConvertible { let description = "it failed" }

@Suite(.limited) struct JournalLogHandlerTests {
    @Test func `A log line is one datagram with its source location and metadata as fields`() throws {
        let journal = Journal()
        var logger = journal.logger
        logger[metadataKey: "request_id"] = "7"
        let line = #line + 1
        logger.error(
            "Disk full", error: Failure(),
            metadata: [
                "duration_ms": "1.500", "stack": ["inner", "outer"], "peer": ["host": "::1", "port": "80"],
                "priority": "9", "_hidden": "x", "9lives": "y", "grün": "z", "": "w",
            ])
        let fields = try #require(journal.next())
        #expect(
            fields == [
                "MESSAGE=Disk full", "PRIORITY=3", "LOGGER=test", "SOURCE=RunLoopsLogTests",
                "CODE_FILE=RunLoopsLogTests/JournalLogHandlerTests.swift", "CODE_LINE=\(line)",
                "CODE_FUNC=\(#function)", "ERROR=it failed",
                "LOG_=w", "LOG_9LIVES=y", "LOG__HIDDEN=x", "DURATION_MS=1.500", "GR_N=z", "PEER_HOST=::1",
                "PEER_PORT=80", "LOG_PRIORITY=9", "REQUEST_ID=7", "STACK=inner", "STACK=outer",
            ])
        #expect(journal.next() == nil && journal.fallback() == "")
    }

    @Test func `Each log level has its syslog priority`() throws {
        let journal = Journal()
        for (level, priority) in zip(Logger.Level.allCases, [7, 7, 6, 5, 4, 3, 2]) {
            journal.logger.log(level: level, "x")
            #expect(try #require(journal.next())[1] == "PRIORITY=\(priority)")
        }
    }

    @Test func `A value of several lines is sent with its length and cannot forge a field`() throws {
        let journal = Journal()
        journal.logger.info("one\nPRIORITY=0\n")
        let bytes = try #require(journal.nextBytes())
        let expected =
            Array("MESSAGE\n".utf8) + [15, 0, 0, 0, 0, 0, 0, 0] + Array("one\nPRIORITY=0\n\nPRIORITY=6\n".utf8)
        #expect(Array(bytes.prefix(expected.count)) == expected)
    }

    @Test func `A line that the journal refuses is written to standard error with its priority`() {
        let journal = Journal()
        // Longer than a datagram.
        let long = String(repeating: "x", count: 1 << 20)
        journal.logger.warning("\(long)")
        #expect(journal.next() == nil)
        #expect(journal.fallback().count == long.count + 4)
        // Full: nobody reads.
        for number in 0..<2000 { journal.logger.info("\(number)", metadata: ["key": "value"]) }
        #expect(journal.fallback().hasSuffix("<6>1999 KEY=value\n"))
        while journal.next() != nil {}
        // Gone.
        journal.close()
        journal.logger.critical("two\nlines")
        #expect(journal.fallback() == "<2>two\n<2>lines\n")
    }

    @Test func `A line of LoopLog reaches the journal with its fields`() throws {
        let journal = Journal()
        ManualRunLoop.with { manual in
            let log = LoopLog(journal.logger)
            log.add(manual.loop)
            manual.loop.add(RunLoop.Timer(.after(.seconds(9))) { _ in }, in: .default)
            _ = manual.loop.run(in: .default, for: .milliseconds(1_500))
            log.stop()
        }
        let fields = try #require(journal.next())
        #expect(fields.contains("MESSAGE=A run has ended") && fields.contains("RESULT=timedOut"))
        #expect(fields.contains("DURATION_MS=1500.000") && fields.contains("MODE=kCFRunLoopDefaultMode"))
    }
}

/// A socket like the journal's, and a file in the place of standard error.
private final class Journal {
    private let path = "/tmp/run-loops-journal-\(getpid())-\(UInt32.random(in: 0...(.max)))"
    private var descriptor: CInt
    private let errors: CInt

    init() {
        errors = open(path + ".errors", O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        unlink(path + ".errors")
        descriptor = socket(AF_UNIX, CInt(SOCK_DGRAM.rawValue | SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue), 0)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
        let result = withUnsafeBytes(of: &address) {
            bind(descriptor, $0.assumingMemoryBound(to: sockaddr.self).baseAddress, socklen_t($0.count))
        }
        precondition(result == 0 && errors >= 0, "errno \(errno)")
    }

    deinit {
        close()
        Glibc.close(errors)
    }

    func close() {
        if descriptor >= 0 { Glibc.close(descriptor) }
        descriptor = -1
        unlink(path)
    }

    var logger: Logger {
        var logger = Logger(label: "test") { [path, errors] label in
            JournalLogHandler(label: label, path: path, fallback: errors)
        }
        logger.logLevel = .trace
        return logger
    }

    func nextBytes() -> [UInt8]? {
        var bytes = [UInt8](repeating: 0, count: 1 << 16)
        let count = read(descriptor, &bytes, bytes.count)
        return count > 0 ? Array(bytes.prefix(count)) : nil
    }

    /// The fields of the next line, in which no value has several lines.
    func next() -> [String]? {
        nextBytes().map { String(decoding: $0, as: UTF8.self).split(separator: "\n").map(String.init) }
    }

    /// What was written to standard error since the last time.
    func fallback() -> String {
        let count = Int(lseek(errors, 0, SEEK_END))
        let text = String(unsafeUninitializedCapacity: count) { max(0, pread(errors, $0.baseAddress, count, 0)) }
        ftruncate(errors, 0)
        lseek(errors, 0, SEEK_SET)
        return text
    }
}
#endif
