// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import Glibc
import NightlyKit
import RunLoops
import RunLoopsDiagnostics
import RunLoopsEvents
import RunLoopsKit
import RunLoopsPorts
import Synchronization

/// What was there before the process was limited.
final class Stage: Sendable {
    let folder: String
    let server: RunLoopThread
    let port = RunLoop.MessagePort.sendable { RunLoop.MessagePort.Message(id: $0.id + 1) }

    init() throws {
        var template = Array("/tmp/scarce-XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else { throw RunLoop.SystemCallError(call: "mkdtemp", code: errno) }
        folder = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
        server = try RunLoopThread(name: "server")
        try server.loop.add(port, in: .common)
        // Without a thread of Swift's pool no task runs at all, and libdispatch waits for one without end.
        let hasThread = Counter()
        Task.detached { hasThread.set(1) }
        while hasThread.value == 0 { usleep(100) }
    }
}

/// The operation has returned without an error, and without its effect.
struct WithoutEffect: Error {
    let what: String

    static func unless(_ holds: Bool, _ what: String) throws { if !holds { throw WithoutEffect(what: what) } }
}

/// What needs a thread or memory, and is seen to have its effect: on the main thread, with its loop.
struct Scene: Sendable {
    let name: String
    let play: @Sendable (Stage) throws -> Void

    static let all = [
        Scene(name: "a resident thread") { _ in
            let thread = try RunLoopThread(name: "resident")
            try WithoutEffect.unless(thread.performAndWait { 4 } == 4, "performAndWait")
            thread.stop()
            thread.join()
        },
        Scene(name: "a hang watch") { _ in
            let watch = try RunLoop.HangWatch { _ in }
            try watch.add(.main)
            watch.stop()
        },
        Scene(name: "the inspector") { _ in
            try RunLoop.Inspector.start()
            RunLoop.Inspector.stop()
        },
        Scene(name: "a request to another thread's port") { stage in
            let reply = try stage.port.sender.request(RunLoop.MessagePort.Message(id: 41))
            try WithoutEffect.unless(reply.id == 42, "request")
        },
        Scene(name: "a request of a task to a port that is full", play: requestToFullPort),
        Scene(name: "a published port") { stage in
            let directory = try RunLoop.MessagePort.Directory(making: stage.folder)
            let port = RunLoop.MessagePort { _ in nil }
            defer { port.invalidate() }
            try RunLoop.main.add(port, in: .default)
            try port.publish(as: "scarce", in: directory)
            try WithoutEffect.unless(try directory.publishedPorts().map(\.name) == ["scarce"], "publish")
        },
        Scene(name: "a recording, written to a file") { stage in
            let recording = RunLoop.Recording(capacity: 10_000)
            recording.add(.main)
            RunLoop.main.run(in: .default, for: .milliseconds(1))
            recording.stop()
            try recording.trace().write(to: stage.folder + "/trace.json")
        },
        Scene(name: "a program that is recorded from outside", play: recordedProgram),
        Scene(name: "a signal source") { _ in
            let source = try SignalSource(SIGUSR1) { _, _ in RunLoop.main.stop() }
            defer { source.invalidate() }
            try RunLoop.main.add(source, in: .default)
            kill(getpid(), SIGUSR1)
            try WithoutEffect.unless(RunLoop.main.run(in: .default, for: .seconds(20)) == .stopped, "the signal")
        },
        Scene(name: "a child in a terminal", play: childInTerminal),
        Scene(name: "a watch of 1000 files") { stage in
            let files = (0..<1000).map { "\(stage.folder)/file \($0)" }
            for file in files { close(open(file, O_CREAT | O_WRONLY, 0o600)) }
            defer { for file in files { unlink(file) } }
            let watch = try FileWatch(files) { _, _ in RunLoop.main.stop() }
            defer { watch.invalidate() }
            try RunLoop.main.add(watch, in: .default)
            unlink(files[999])
            try WithoutEffect.unless(RunLoop.main.run(in: .default, for: .seconds(20)) == .stopped, "the watch")
        },
        Scene(name: "20,000 closures from another thread") { stage in
            let ran = Counter()
            for _ in 0..<20_000 { stage.server.loop.perform { ran.add(1) } }
            try stage.server.loop.performAndWait {}
            try WithoutEffect.unless(ran.value == 20_000, "\(ran.value) of 20000 closures ran")
        },
        Scene(name: "20,000 timers") { _ in
            let fired = Counter()
            for _ in 0..<20_000 {
                RunLoop.main.add(RunLoop.Timer(.after(.zero)) { _ in fired.add(1) }, in: .default)
            }
            RunLoop.main.runTurn(in: .default)
            try WithoutEffect.unless(fired.value == 20_000, "\(fired.value) of 20000 timers fired")
        },
        Scene(name: "1000 modes with a signalled source each") { _ in
            let performed = Counter()
            let modes = (0..<1000).map { RunLoop.Mode("scarce \($0)") }
            for mode in modes {
                let source = RunLoop.Source { _ in performed.add(1) }
                RunLoop.main.add(source, in: mode)
                source.signal()
            }
            for mode in modes { RunLoop.main.runTurn(in: mode) }
            try WithoutEffect.unless(performed.value == 1000, "\(performed.value) of 1000 sources were performed")
        },
        Scene(name: "1000 messages of 4 KiB to another thread's port") { stage in
            let message = RunLoop.MessagePort.Message(bytes: [UInt8](repeating: 7, count: 4096))
            for _ in 0..<1000 { try stage.port.sender.send(message, within: .seconds(60)) }
            _ = try stage.port.sender.request(RunLoop.MessagePort.Message(id: 1))
        },
    ]

    private final class Outcome: Sendable {
        let reply = Mutex<Result<Int32, any Error>?>(nil)
    }

    private static func childInTerminal(_ stage: Stage) throws {
        let child = try Child.spawn(
            .name("stty"), arguments: ["size"], terminal: Child.Terminal.Size(columns: 80, rows: 24))
        let outcome = Counter()
        let completion = ChildCompletion(child) { _, result in
            if case .success(let report) = result, report.outputText == "24 80\r\n" { outcome.set(1) }
            RunLoop.main.stop()
        }
        defer { completion.invalidate() }
        try RunLoop.main.add(completion, in: .default)
        try WithoutEffect.unless(
            RunLoop.main.run(in: .default, for: .seconds(20)) == .stopped && outcome.value == 1, "the child")
    }

    /// The message cannot be sent at once: a thread of its own waits for room.
    private static func requestToFullPort(_ stage: Stage) throws {
        let port = RunLoop.MessagePort.sendable(limits: RunLoop.MessagePort.Limits(queue: 1)) {
            RunLoop.MessagePort.Message(id: $0.id + 1)
        }
        defer { port.invalidate() }
        try stage.server.loop.add(port, in: .common)
        let (isBusy, mayGoOn, outcome) = (Counter(), Counter(), Outcome())
        defer { mayGoOn.set(1) }
        stage.server.loop.perform {
            isBusy.set(1)
            while mayGoOn.value == 0 { usleep(100) }
        }
        while isBusy.value == 0 { usleep(100) }
        try port.sender.send(RunLoop.MessagePort.Message())
        Task.detached { [sender = port.sender] in
            do {
                let reply = try await sender.request(RunLoop.MessagePort.Message(id: 41), on: .main)
                outcome.reply.withLock { $0 = .success(reply.id) }
            } catch {
                outcome.reply.withLock { $0 = .failure(error) }
            }
            RunLoop.main.stop()
        }
        let keeper = RunLoop.Timer(.every(.milliseconds(30))) { _ in mayGoOn.set(1) }
        RunLoop.main.add(keeper, in: .default)
        defer { keeper.invalidate() }
        while outcome.reply.withLock({ $0 == nil }) { RunLoop.main.run(in: .default, until: nil) }
        let id = try outcome.reply.withLock { try $0?.get() }
        try WithoutEffect.unless(id == 42, "the request of a task")
    }

    /// The program gets no thread to write its trace by when a signal ends it, and writes it when it exits.
    private static func recordedProgram(_ stage: Stage) throws {
        let file = stage.folder + "/trace.json"
        unlink(file)
        setenv("RUNLOOP_TRACE", file, 1)
        defer { unsetenv("RUNLOOP_TRACE") }
        let program = try Program(["--help"])
        try WithoutEffect.unless(program.wait(Patience(seconds: 20)) == 0, program.text)
        try WithoutEffect.unless(access(file, R_OK) == 0, "no trace was written")
    }
}
