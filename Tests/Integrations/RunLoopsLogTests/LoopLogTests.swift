// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

#if Log
import Glibc
import InMemoryLogging
import Logging
import RunLoops
import RunLoopsDiagnostics
import RunLoopsLog
import RunLoopsTestSupport
import RunLoopsTesting
import Testing

@Suite(.limited) struct LoopLogTests {
    private func logger(_ handler: InMemoryLogHandler, _ level: Logger.Level) -> Logger {
        var logger = Logger(label: "test") { _ in handler }
        logger.logLevel = level
        return logger
    }

    @Test func `A slow callout is logged as a warning with its label`() throws {
        let handler = InMemoryLogHandler()
        let log = LoopLog(logger(handler, .info), limits: [.timer: .milliseconds(1)])
        let loop = RunLoop.current
        log.add(loop)
        let line = #line + 1
        let timer = RunLoop.Timer(.after(.zero), label: "slow") { _ in usleep(2_000) }
        loop.add(timer, in: .default)
        loop.perform {}
        while timer.isValid { _ = loop.run(in: .default, for: .seconds(1)) }
        log.stop()
        let entries = handler.entries
        #expect(entries.count == 1)
        let entry = try #require(entries.first)
        #expect(entry.level == .warning && entry.message == "A callout took long")
        #expect(entry.metadata["kind"] == "timer" && entry.metadata["label"] == "slow")
        #expect(entry.metadata["place"] == "RunLoopsLogTests/LoopLogTests.swift:\(line)")
        #expect(entry.metadata["limit_ms"] == "1.000" && entry.metadata["depth"] == "1")
        #expect(entry.metadata["loop"] != nil && entry.metadata["thread"] != nil && entry.metadata["waited_ms"] != nil)
        let length = try #require(entry.metadata["duration_ms"])
        #expect(try #require(Double("\(length)")) >= 2)
    }

    @Test func `Ended runs are logged at the level debug only`() throws {
        for level in [Logger.Level.debug, .info] {
            let handler = InMemoryLogHandler()
            ManualRunLoop.with { manual in
                let log = LoopLog(logger(handler, level))
                log.add(manual.loop)
                manual.loop.add(RunLoop.Timer(.after(.seconds(9))) { _ in }, in: .default)
                _ = manual.loop.run(in: .default, for: .milliseconds(1_500))
            }
            guard level == .debug else {
                #expect(handler.entries.isEmpty)
                continue
            }
            let entry = try #require(handler.entries.first)
            #expect(handler.entries.count == 1 && entry.level == .debug && entry.message == "A run has ended")
            #expect(entry.metadata["mode"] == "kCFRunLoopDefaultMode" && entry.metadata["result"] == "timedOut")
            #expect(entry.metadata["duration_ms"] == "1500.000" && entry.metadata["depth"] == "1")
        }
    }

    @Test func `A hang is logged as a warning when it begins and as an error when it ends`() throws {
        let handler = InMemoryLogHandler()
        let log = LoopLog(logger(handler, .info))
        var options = RunLoop.HangWatch.Options()
        options.limit = .milliseconds(20)
        let number = Locked<Int?>(nil)
        let watch = try RunLoop.HangWatch(options: options) { hang in
            // On a busy machine the thread may wait that long for a processor, which is a hang of no callout.
            let isWanted = number.withLock { number in
                if number == nil, hang.stage == .began, hang.callout?.label == "sync" { number = hang.number }
                return number == hang.number
            }
            if isWanted { log.log(hang) }
        }
        let loop = RunLoop.current
        try watch.add(loop, limit: .milliseconds(20))
        loop.add(
            RunLoop.Timer(.every(.milliseconds(1)), label: "sync") { timer in
                // A hang that began before this callout is none of it, and is over when it returns.
                for _ in 0..<10 where handler.entries.isEmpty { usleep(200_000) }
                if !handler.entries.isEmpty { timer.invalidate() }
            }, in: .default)
        while loop.run(in: .default, for: .seconds(1)) != .finished {}
        while handler.entries.count < 2 { usleep(1000) }
        let entries = handler.entries
        #expect(entries.map(\.level) == [.warning, .error])
        #expect(entries.allSatisfy { $0.metadata["label"] == "sync" && $0.metadata["limit_ms"] == "20.000" })
        #expect(entries[0].metadata["hang"] == entries[1].metadata["hang"])
        #expect(entries[1].metadata["cause"] == "one callout waits for time to pass")
        watch.stop()
    }
}
#endif
