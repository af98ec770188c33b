// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import CRunLoopsKernel
import Glibc
import RunLoopsSystem
import RunLoopsTestSupport
import Testing

@testable import RunLoops
@testable import RunLoopsDiagnostics

@Suite("An inspector", .ownThread)
struct InspectorTests {
    @Test func `an inspector describes a sleeping loop`() throws {
        let inspector = try TestInspector()
        let thread = InspectedThread(inspector) { loop in
            loop.add(RunLoop.Timer(.every(.seconds(100)), tolerance: .seconds(1), label: "tick") { _ in }, in: .default)
        }
        defer { thread.end() }
        waitUntil { thread.loop.isWaiting }
        let report = try inspector.connect().dump(within: plenty)
        #expect(report.process == getpid())
        let loop = try #require(report.loops.first)
        #expect(report.loops.count == 1 && loop.thread == thread.loop.threadID && !loop.isMain)
        #expect(loop.activity == .asleep && loop.depth == 1 && loop.turns >= 1)
        #expect(loop.mode == RunLoop.Mode.default.rawValue && !loop.isLocked && loop.callouts.isEmpty)
        #expect(loop.description?.contains("keeps the mode") == true)
        #expect(loop.timers.map(\.label) == ["tick"])
        #expect(loop.timers.first?.interval == 100_000_000_000 && loop.timers.first?.tolerance == 1_000_000_000)
    }

    @Test func `an inspector answers while a callout hangs and names it with its source location`() throws {
        let inspector = try TestInspector()
        let thread = InspectedThread(inspector)
        let (hangs, goOn, isOver) = (Permit(), Permit(), Permit())
        let line = UInt(#line) + 1
        thread.loop.perform {
            RunLoop.current.perform {
                hangs.signal()
                goOn.wait()
            }
            RunLoop.current.runTurn()
            isOver.signal()
        }
        thread.loop.wakeUp()
        hangs.wait()
        let client = try inspector.connect()
        for _ in 0..<10 {
            let loop = try #require(try client.dump(within: plenty).loops.first)
            #expect(loop.activity == .busy && loop.depth == 2 && loop.description != nil)
            #expect(loop.callouts.map(\.kind) == ["block", "block"])
            #expect(loop.callouts.first?.label == "RunLoopsDiagnosticsTests/InspectorTests.swift:\(line)")
            #expect(loop.callouts.allSatisfy { $0.since >= 0 })
        }
        goOn.signal()
        // Otherwise the stop could end the inner run.
        isOver.wait()
        thread.end()
    }

    @Test func `an inspector answers while a thread holds a loop's lock and marks the loop as locked`() throws {
        let inspector = try TestInspector()
        let thread = InspectedThread(inspector)
        waitUntil { thread.loop.isWaiting }
        try thread.loop.withState { _ in
            let loop = try #require(try inspector.connect().dump(within: plenty).loops.first)
            #expect(loop.isLocked && loop.mode == nil && loop.description == nil)
            #expect(loop.activity == .asleep)
        }
        #expect(try inspector.connect().dump(within: plenty).loops.first?.isLocked == false)
        thread.end()
    }

    @Test func `an inspector releases loops whose threads have ended`() throws {
        let inspector = try TestInspector()
        weak var loop: RunLoop?
        do {
            let thread = InspectedThread(inspector)
            loop = thread.loop
            _ = try inspector.connect().dump(within: plenty)
            thread.end()
        }
        waitUntil { loop == nil }
        #expect(try inspector.connect().dump(within: plenty).loops.isEmpty)
    }

    @Test func `an inspector releases described items on the loop's own thread`() throws {
        /// Notes the thread on which it dies.
        final class Witness: Sendable {
            let thread: Locked<Int32>
            init(_ thread: Locked<Int32>) { self.thread = thread }
            deinit { thread.withLock { $0 = SystemCalls.threadID } }
        }
        let inspector = try TestInspector()
        let (hangs, goOn) = (Permit(), Permit())
        let died = Locked<Int32>(0)
        let thread = InspectedThread(inspector) { loop in
            let source = RunLoop.Source(label: "short-lived") { [witness = Witness(died)] _ in _ = witness }
            loop.add(source, in: .default)
            loop.perform {
                hangs.signal()
                goOn.wait()
                source.invalidate()
            }
        }
        hangs.wait()
        let loop = try #require(try inspector.connect().dump(within: plenty).loops.first)
        #expect(loop.description?.contains("short-lived") == true)
        #expect(died.copy == 0)
        goOn.signal()
        thread.turn()
        thread.turn()
        let owner = thread.loop.threadID
        thread.end()
        #expect(died.copy == owner)
    }

    @Test func `an inspector includes every loop made while it watches`() throws {
        let loops = Subscription<InspectedLoop>(keepsStamps: false) { _, _ in InspectedLoop() }
        loops.addNewLoops()
        defer { _ = loops.stop() }
        let isKnown = TestThread.run {
            let loop = RunLoop.current
            return loops.present.contains { $0.loop === loop && $0.stream.state.thread == loop.threadID }
        }
        #expect(isKnown)
    }

    // MARK: Only while somebody looks

    @Test func `an inspector counts from a client's first request until the client disconnects`() throws {
        let inspector = try TestInspector()
        let thread = InspectedThread(inspector)
        var client: InspectorClient? = try inspector.connect()
        let first = try #require(try ask(client).loops.first?.statistics)
        #expect(first.turns == 0)
        for _ in 0..<3 { thread.turn() }
        let second = try #require(try ask(client).loops.first?.statistics)
        // The turn in which the meter came had begun; one turn has two places for blocks.
        #expect(second.turns >= 1 && second.callouts[.block, default: 0] >= 2)
        #expect(second.dearest.contains { $0.callee == .block })
        #expect(inspector.server.loops.followerCount == 1)
        client = nil
        waitUntil { inspector.server.loops.followerCount == 0 }
        // Nothing is left but the status.
        waitUntil {
            thread.turn()
            return thread.countListeners(inspector) == 1
        }
        thread.end()
    }

    private func ask(_ client: InspectorClient?) throws -> ProcessReport {
        let client = try #require(client)
        try client.requestStatistics()
        return try client.takeReport(until: InspectorClient.deadline(plenty))
    }

    @Test func `an inspector records a whole trace between two requests`() throws {
        let inspector = try TestInspector()
        let thread = InspectedThread(inspector)
        waitUntil { thread.loop.isWaiting }
        let client = try inspector.connect()
        try client.record(within: plenty)
        #expect(throws: InspectorClient.Failure.self) { try client.record(within: plenty) }
        let second = try inspector.connect()
        try second.record(capacity: 16, within: plenty)
        thread.turn()
        thread.turn()
        // A loop that is made meanwhile is recorded too.
        let newcomer = InspectedThread(inspector)
        newcomer.turn()
        let short = try RunLoop.Trace.Report(json: try second.takeRecording(within: plenty))
        #expect(short.loops.count == 2)
        let report = try RunLoop.Trace.Report(json: try client.takeRecording(within: plenty))
        let own = report.slices.filter { $0.thread == Int(thread.loop.threadID) }
        #expect(report.lost == 0 && own.first?.name == "run \(RunLoop.Mode.default)")
        #expect(own.contains { $0.kind == "sleep" && $0.wokenBy == "wake-up" })
        #expect(own.contains { $0.kind == "block" })
        #expect(report.loops.allSatisfy { $0.pages.last?.items.contains { $0.label == "keeps the mode" } == true })
        #expect(Set(report.slices.filter { $0.kind == "run" }.map(\.thread)).count == 2)
        #expect(throws: InspectorClient.Failure.self) { try client.takeRecording(within: plenty) }
        thread.end()
        newcomer.end()
    }

    @Test func `a live trace of a hanging loop shows the callout from its beginning`() throws {
        let inspector = try TestInspector()
        let thread = InspectedThread(inspector)
        let (isInside, mayGo) = (Permit(), Permit())
        let posted = thread.loop.kernel.now(.monotonic)
        thread.loop.perform {
            isInside.signal()
            mayGo.wait()
        }
        isInside.wait()
        let entered = thread.loop.kernel.now(.monotonic)
        let recording = RunLoop.Recording()
        recording.follow(inspector.server.loops)
        let trace = recording.trace()
        let loop = try #require(trace.loops.first)
        #expect(loop.events.map(\.kind).first == .runBegan(.default) && loop.asleepSince == nil)
        let callout = try #require(loop.events.last)
        #expect(callout.time >= posted && callout.time <= entered && trace.end >= entered)
        if case .calloutBegan(.block, _) = callout.kind {} else { Issue.record("\(callout.kind)") }
        mayGo.signal()
        thread.end()
    }

    @Test func `a live trace of a sleeping loop shows the sleep from the beginning of the recording`() throws {
        let inspector = try TestInspector()
        let thread = InspectedThread(inspector)
        waitUntil { thread.loop.isWaiting }
        let recording = RunLoop.Recording()
        let begun = thread.loop.kernel.now(.monotonic)
        recording.follow(inspector.server.loops)
        waitUntil { recording.trace().loops.first?.asleepSince != nil }
        let trace = recording.trace()
        // What was before the recording is not shown.
        #expect(trace.loops[0].modesRun == [.default], "the doctor would find that nobody runs the loop")
        #expect(try #require(trace.loops[0].asleepSince) >= begun && trace.loops[0].events.count == 1)
        thread.end()
    }

    // MARK: Who may look

    @Test func `an inspector refuses another user with a message`() throws {
        let inspector = try TestInspector(user: geteuid() + 1)
        let client = try inspector.connectRaw()
        #expect(client.readToEnd().contains("only user \(geteuid() + 1) may look into this process"))
        // The inspector goes on answering.
        #expect(try inspector.connectRaw().readToEnd().contains("only user"))
    }

    @Test func `an inspector refuses a directory open to other users, a link and another user's directory`() throws {
        let folder = InspectorFolder()
        mkdir(folder.directory, 0o755)
        chmod(folder.directory, 0o755)
        #expect(throws: RunLoop.Inspector.StartError.self) { try InspectorDirectory(folder.directory, makes: true) }
        chmod(folder.directory, 0o700)
        #expect(throws: Never.self) { try InspectorDirectory(folder.directory, makes: true) }
        let link = folder.path + "/link"
        symlink(folder.directory, link)
        #expect(throws: RunLoop.Inspector.StartError.self) { try InspectorDirectory(link, makes: true) }
        if geteuid() == 0 {
            chown(folder.directory, 65_534, 65_534)
            #expect(throws: RunLoop.Inspector.StartError.self) { try InspectorDirectory(folder.directory, makes: true) }
        }
    }

    // MARK: Names

    @Test func `an inspector removes its socket when it stops, and a client removes sockets of dead processes`() throws
    {
        let folder = InspectorFolder()
        let directory = try InspectorDirectory(folder.directory, makes: true)
        let server = try InspectorServer(directory)
        #expect(directory.names().map(\.name) == [server.name])
        server.stop()
        #expect(directory.names().isEmpty)
        // Bound and never listening. A listener that is closed here could be held by a child that another test has forked and that has
        // not called exec yet: connecting to it then succeeds.
        let name = "\(getpid())-1"
        let socket = rl_inspect_socket()
        try #require(socket >= 0 && rl_port_bind(socket, folder.directory + "/" + name) == 0)
        defer { close(socket) }
        #expect(directory.names().map(\.name) == [name])
        // The process lives, so nobody may remove its name without asking.
        directory.tidy()
        #expect(directory.names().map(\.name) == [name])
        #expect(throws: RunLoop.SystemCallError.self) { try directory.connect(name) }
        #expect(directory.names().isEmpty)
    }
}
