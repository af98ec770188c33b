// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import RunLoopsTestSupport
import Testing

/// What of Foundation works while the main thread sleeps in this package's loop, and the other way round.
@Suite(
    .ownThread,
    .enabled(if: BuiltPrograms.path("FoundationRunLoopPrograms") != nil, "the programs were not built"))
struct FoundationProcessTests {
    private func scene(_ name: String) throws -> [String] {
        try BuiltPrograms.output(of: "FoundationRunLoopPrograms", [name])
    }

    @Test func `A URLSession request completes`() throws {
        #expect(try scene("session") == ["session: 200 answered", "done"])
    }

    @Test func `The termination handler of a Process is called`() throws {
        #expect(try scene("process") == ["process: 7", "done"])
    }

    @Test func `Process.waitUntilExit() serves Foundation's loop and not this package's loop`() throws {
        #expect(
            try scene("wait-for-exit") == ["exit: 7 in Foundation's loop: true in this loop: false", "done"])
    }

    @Test func `This package's loop does not serve a Stream, which can be read without a loop`() throws {
        #expect(try scene("stream") == ["in this loop alone: false", "stream: bytes", "done"])
    }

    @Test func `FileHandle's handlers are called`() throws {
        #expect(try scene("file-handle") == ["file handle: bytes", "done"])
    }

    @Test func `The main loop serves the main queue, the main actor and the main operation queue`() throws {
        #expect(try scene("main-queue") == ["main queue, main actor, operation queue: true", "done"])
    }

    @Test func `Foundation's timers fire only if Foundation's loop hosts this package's loop`() throws {
        #expect(
            try scene("foundation-timer") == ["in this loop alone: false", "in Foundation's loop: true true", "done"])
    }

    @Test func `A separate thread can run Foundation's loop`() throws {
        #expect(try scene("foundation-thread") == ["timer on Foundation's thread: true", "done"])
    }

    @Test(.enabled(if: BuiltPrograms.path("FoundationRunLoopXCTestPrograms") != nil, "the program was not built"))
    func `The main loop is served while a program waits as XCTest does`() throws {
        let said = try BuiltPrograms.output(of: "FoundationRunLoopXCTestPrograms")
        #expect(
            said == [
                "the first run: until its limit",
                "closure, closure of a thread, timer", "300 runs were stopped", "20 fires, no turn without a cause",
                "300 of 300 were served", "the last run: until its limit",
            ])
    }

    @Test(
        .enabled(
            if: BuiltPrograms.folder(with: "FoundationRunLoopSameSource", "FoundationRunLoopSameSourceOurs") != nil))
    func `A program prints the same output with Foundation's loop and with this package's loop`() throws {
        func outputs() throws -> (foundations: [String], ours: [String]) {
            (
                try BuiltPrograms.output(of: "FoundationRunLoopSameSource"),
                try BuiltPrograms.output(of: "FoundationRunLoopSameSourceOurs")
            )
        }
        var last = try outputs()
        // Foundation's program has been seen to stand still where the machine has too much to do, and the two to differ once. A difference of
        // the loops is there each time.
        for _ in 0..<4 where last.foundations != last.ours { last = try outputs() }
        #expect(last.foundations.count == 30)
        #expect(last.ours == last.foundations)
    }

    /// The programs of the article on ports.
    @Test(
        .enabled(if: BuiltPrograms.folder(with: "PortedDaemon", "PortedRunLoopLock", "PortedScheduler") != nil),
        arguments: [
            ("PortedDaemon", ["alive", "asked to end", "ended after 5 beats"]),
            ("PortedRunLoopLock", ["called back", "unlocked: true", "unlocked in time: false"]),
            ("PortedScheduler", ["now", "early", "late", "again"]),
        ])
    func `A file written for Apple's systems runs with one import changed`(program: String, says: [String]) throws {
        let said = try BuiltPrograms.output(of: program)
        #expect(said == says)
    }
}
