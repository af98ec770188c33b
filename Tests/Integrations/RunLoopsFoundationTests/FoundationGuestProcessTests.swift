// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import Foundation
import RunLoopsTestSupport
import TerminalTestSupport
import Testing

/// Foundation's main loop inside this package's, in programs that have a main thread of their own.
@Suite(
    .ownThread,
    .enabled(if: BuiltPrograms.path("RunLoopsFoundationPrograms") != nil, "the programs were not built"))
struct FoundationGuestProcessTests {
    private func output(
        _ arguments: String..., of program: String = "RunLoopsFoundationPrograms", at path: String? = nil
    ) throws -> [String] {
        try BuiltPrograms.output(of: program, arguments, at: path)
    }

    @Test(arguments: ["foundation", "run", "poll", "host"])
    func `The main loop serves Foundation's timers, closures, sources, streams, processes and notifications`(
        driver: String
    )
        throws
    {
        #expect(try output("items", driver) == ["all"])
    }

    @Test func `Each loop can be run inside callouts of the other, and Foundation's loop inside its own callouts`()
        throws
    {
        #expect(
            try output("nested") == [
                "Foundation's loop in its own callout: served",
                "in a timer, in a closure, in a poll, in a source, two levels deep, outer level",
                "Foundation's loop in a callout of this package's: served",
            ])
    }

    @Test func `An idle Foundation loop does not wake the main loop`() throws {
        #expect(
            try output("idle") == [
                "idle: 0 wake-ups, 0 turns of Foundation's loop beside the first",
                "ten fires: at most 40 wake-ups: true",
            ])
    }

    @Test func `A run in a common mode or a mode given to serve(in:) serves Foundation's mode of the same name`() throws
    {
        #expect(
            try output("modes") == [
                "default mode: common, default", "a mode that is not common: ", "the same after serve(in:): own",
                "a common mode: common", "woken there: true closure of a thread",
            ])
    }

    @Test func `A performed Foundation source ends a run with returnsAfterSource`() throws {
        #expect(
            try output("sources") == [
                "woken by a thread: true", "signalled in a closure: true 1", "several: 1 2 3",
                "signalled by Foundation's closure: true ours",
            ])
    }

    @Test func `Blocks on the main queue run once each and in order`() throws {
        #expect(try output("main-queue") == ["20000 blocks, in order: true, timer beside them: true"])
    }

    @Test func `Foundation's loop serves its own items while it is the host of the main loop`() throws {
        #expect(
            try output("hosted") == [
                "both are served; at most two wake-ups for each fire of this loop's timer: true"
            ])
    }

    @Test func `Work that a callback of the host gives to a loop is done before the host waits again`() throws {
        #expect(
            try output("host-callbacks") == [
                "perform: 0 of 10 late or lost", "asap: 0 of 10 late or lost", "whenIdle: 0 of 10 late or lost",
                "timer: 0 of 10 late or lost", "task: 0 of 10 late or lost", "block: 0 of 10 late or lost",
                "idle: 1 wait, to its end",
            ])
    }

    @Test func `Foundation's timers and closures run in a terminal application`() throws {
        let program = try #require(BuiltPrograms.path("RunLoopsFoundationTerminalPrograms"))
        let terminal = try PseudoTerminal([program], columns: 60, rows: 10, environment: [])
        try terminal.wait(for: "5 fires, a closure of a thread: true.")
        terminal.send("q")
        #expect(terminal.waitForEnd() == .status(0))
    }

    @Test func `The main loop runs while no descriptor is free for Foundation's loop, and serves that loop later`()
        throws
    {
        #expect(
            try output("few-descriptors") == [
                "this loop runs: true limitation: true", "with descriptors: served, limitation: none",
            ])
    }

    @Test(arguments: ["no-information", "wrong-sets", "no-wake-ups"])
    func `If the descriptors of Foundation's loop are not as expected, its timers run and limitation is not nil`(
        misfit: String
    )
        throws
    {
        #expect(
            try output("misfit", misfit) == [
                "timer: true, closures: true, from this loop: true", "limitation: said",
                "a run of Foundation's in progress: false",
            ])
    }

    @Test func `A forked child's main loop runs without Foundation's loop, and the parent's Foundation loop continues`()
        throws
    {
        #expect(try output("fork") == ["before: served", "parent: served, child: has its own loop"])
    }

    @Test func `No descriptor of Foundation's main loop gets the number of a closed standard stream`() throws {
        let program = try #require(BuiltPrograms.path("RunLoopsFoundationPrograms"))
        let said = try output("-c", "exec \"$0\" closed-streams <&-", program, at: "/bin/sh")
        #expect(said == ["standard input: closed"])
    }

    @Test func `Random programs make the same callouts on Foundation's loop and in the main loop`() throws {
        let count = ProcessInfo.processInfo.environment["RUNLOOPS_THOROUGH"] == nil ? 3000 : 100_000
        #expect(
            try output("random", "1", "\(count)") == [
                "\(count) programs, more than \(count) callouts: true, different: 0"
            ])
    }
}
