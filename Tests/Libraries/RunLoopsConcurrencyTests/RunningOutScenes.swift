// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import Glibc
import RunLoops
import RunLoopsConcurrency
import RunLoopsDiagnostics
import RunLoopsEvents
import RunLoopsKit
import RunLoopsPorts
import RunLoopsTestSupport

/// What a scene finds when it begins, made while there are descriptors.
// Unchecked: the scene's thread alone, after the thread that makes it.
final class PoorProcess: @unchecked Sendable {
    let pipe = DescriptorPair.pipe()
    private let temporary = TemporaryDirectory()
    var folder: String { temporary.path }
    let directory: RunLoop.MessagePort.Directory
    let child: pid_t
    /// How long to wait for other threads, which are out of descriptors too.
    let limit: Duration
    private let server: LoopThread
    private let port = RunLoop.MessagePort.sendable { RunLoop.MessagePort.Message(id: $0.id) }
    /// What lives until the loop has been seen waiting.
    var kept: [Any] = []

    init(limit: Duration) throws {
        self.limit = limit
        directory = try RunLoop.MessagePort.Directory(making: temporary.path)
        // The inspector's folder is there, too, and goes with it.
        setVariable("XDG_RUNTIME_DIR", temporary.path)
        server = LoopThread()
        try server.loop.add(port, in: .default)
        try port.publish(as: "server", in: directory)
        var child: pid_t = 0
        var arguments: [UnsafeMutablePointer<CChar>?] = [strdup("true"), nil]
        defer { free(arguments[0]) }
        let result = posix_spawnp(&child, "true", nil, nil, &arguments, environ)
        if result != 0 { throw RunLoop.SystemCallError(call: "posix_spawn", code: result) }
        self.child = child
    }

    /// A sender that reaches the other thread's port by a socket.
    func sender() throws -> RunLoop.MessagePort.Sender {
        try RunLoop.MessagePort.Sender(named: "server", in: directory, looksInProcess: false)
    }

    func strike() {
        kept = []
        port.invalidate()
        server.end()
        var status: CInt = 0
        waitpid(child, &status, 0)
    }
}

/// Every public operation that may need a descriptor: done on a thread of its own, and seen to have its effect.
enum RunningOutScenes {
    typealias Scene = @Sendable (RunLoop, PoorProcess) throws -> Void

    /// In groups, which the compiler checks one by one.
    static let all: [(name: String, play: Scene)] = loops + events + sockets + ports + kit + diagnostics

    private static let loops: [(name: String, play: Scene)] = [
        ("a loop, a wake-up, a closure", { loop, _ in try run(loop) { loop.perform { loop.stop() } } }),
        (
            "a monotonic timer",
            { loop, _ in
                try run(loop) { loop.add(RunLoop.Timer(.after(.milliseconds(5))) { _ in loop.stop() }, in: .default) }
            }
        ),
        ("a boottime timer", { loop, _ in try timer(loop, .boottime) }),
        ("a realtime timer", { loop, _ in try timer(loop, .realtime) }),
        ("a descriptor source", { loop, stage in try source(loop, stage) }),
        (
            "a descriptor source beside a realtime timer",
            { loop, stage in
                loop.add(RunLoop.Timer(.after(.seconds(3600), clock: .realtime)) { _ in }, in: .default)
                try source(loop, stage)
            }
        ),
        (
            "a loop in a host",
            { loop, _ in
                var host = pollfd(fd: try loop.pollDescriptor, events: Int16(POLLIN), revents: 0)
                loop.wakeUp()
                try check("poll", Glibc.poll(&host, 1, 0) == 1)
                loop.runReady()
            }
        ),
    ]

    private static let events: [(name: String, play: Scene)] = [
        (
            "a signal source",
            { loop, _ in
                let source = try SignalSource(SIGUSR1) { _, _ in loop.stop() }
                defer { source.invalidate() }
                try loop.add(source, in: .default)
                try run(loop) { kill(getpid(), SIGUSR1) }
            }
        ),
        (
            "a child source",
            { loop, stage in
                let source = try ChildSource(stage.child, reaps: false) { _, _ in loop.stop() }
                defer { source.invalidate() }
                try loop.add(source, in: .default)
                try run(loop) {}
            }
        ),
        ("a child in a terminal", { loop, _ in try childInTerminal(loop) }),
        (
            "a file watch",
            { loop, stage in
                let watch = try FileWatch([stage.folder]) { _, _ in loop.stop() }
                defer { watch.invalidate() }
                try loop.add(watch, in: .default)
                try run(loop) { mkdir(stage.folder + "/new", 0o700) }
                rmdir(stage.folder + "/new")
            }
        ),
        (
            "a sequence of signals",
            { loop, stage in stage.kept.append(try loop.signals(of: SIGUSR2)) }
        ),
    ]

    private static let sockets: [(name: String, play: Scene)] = [
        (
            "a listener and a connector",
            { loop, _ in
                var refusal: (any Error)?
                let listener = try SocketListener(on: .loopback()) { _, event in
                    if case .refused(let error) = event { refusal = error }
                    loop.stop()
                }
                defer { listener.invalidate() }
                try loop.add(listener, in: .default)
                let connector = try SocketConnector(to: listener.address) { _, _ in }
                defer { connector.invalidate() }
                try loop.add(connector, in: .default)
                try run(loop) {}
                if let refusal { throw refusal }
            }
        ),
        (
            "a pair of streams",
            { loop, _ in
                let (here, there) = try RunLoop.Socket.pair()
                let reader = SocketStream(here) { _, _ in loop.stop() }
                let writer = SocketStream(there) { _, _ in }
                defer {
                    reader.invalidate()
                    writer.invalidate()
                }
                try loop.add(reader, in: .default)
                try loop.add(writer, in: .default)
                try run(loop) { writer.write([1]) }
            }
        ),
    ]

    private static let ports: [(name: String, play: Scene)] = [
        (
            "a port between threads",
            { loop, _ in
                let port = RunLoop.MessagePort { _ in
                    loop.stop()
                    return nil
                }
                defer { port.invalidate() }
                try loop.add(port, in: .default)
                let sender = port.sender
                try run(loop) { try sender.send(RunLoop.MessagePort.Message()) }
            }
        ),
        (
            "a published port",
            { loop, stage in
                let port = RunLoop.MessagePort { _ in nil }
                try loop.add(port, in: .default)
                stage.kept.append(port)
                do { try port.publish(as: "own", in: stage.directory) } catch {
                    port.invalidate()
                    throw error
                }
            }
        ),
        (
            "a message to another process's port",
            { _, stage in try stage.sender().send(RunLoop.MessagePort.Message(), within: stage.limit) }
        ),
        (
            "a request to another process's port",
            { _, stage in
                let reply = try stage.sender().request(RunLoop.MessagePort.Message(id: 3), within: stage.limit)
                try check("request", reply.id == 3)
            }
        ),
        (
            "a message with a descriptor",
            { loop, stage in
                let copy = try RunLoop.MessagePort.Descriptor(duplicating: stage.pipe.first)
                let message = RunLoop.MessagePort.Message(descriptors: [copy])
                try stage.sender().send(message, within: stage.limit)
            }
        ),
        (
            "the names of ports",
            { _, stage in
                let directory = try RunLoop.MessagePort.Directory(making: stage.folder)
                try check("names", directory.publishedPorts().map(\.name) == ["server"])
            }
        ),
        (
            "a sequence of messages",
            { loop, stage in stage.kept.append(try loop.messages()) }
        ),
    ]

    private static let kit: [(name: String, play: Scene)] = [
        (
            "a resident thread",
            { _, _ in
                let thread = try RunLoopThread(name: "resident")
                try check("performAndWait", thread.performAndWait { 4 } == 4)
                thread.stop()
                thread.join()
            }
        )
    ]

    private static let diagnostics: [(name: String, play: Scene)] = [
        (
            "a hang watch",
            { loop, stage in
                let watch = try RunLoop.HangWatch { _ in }
                try watch.add(loop)
                stage.kept.append(watch)
            }
        ),
        (
            "the inspector",
            { _, _ in
                try RunLoop.Inspector.start()
                RunLoop.Inspector.stop()
            }
        ),
        (
            "a recording, written to a file",
            { loop, stage in
                let recording = RunLoop.Recording(capacity: 64)
                recording.add(loop)
                loop.run(in: .default, for: .milliseconds(1))
                try recording.trace().write(to: stage.folder + "/trace.json")
            }
        ),
    ]

    // MARK: Parts

    /// Begins something, and runs the loop until that stops it.
    private static func run(_ loop: RunLoop, _ begin: () throws -> Void) throws {
        let keeper = RunLoop.Source { _ in }
        loop.add(keeper, in: .default)
        defer { keeper.invalidate() }
        try begin()
        try check("run", loop.runPlenty() == .stopped)
    }

    private static func timer(_ loop: RunLoop, _ clock: RunLoop.ClockID) throws {
        try run(loop) {
            loop.add(RunLoop.Timer(.after(.milliseconds(5), clock: clock)) { _ in loop.stop() }, in: .default)
        }
        // What the loop waits for after the scene.
        loop.add(RunLoop.Timer(.after(.seconds(3600), clock: clock)) { _ in }, in: .default)
    }

    private static func source(_ loop: RunLoop, _ stage: PoorProcess) throws {
        let source = RunLoop.DescriptorSource(stage.pipe.first) { source, _ in
            readText(source.descriptor)
            loop.stop()
        }
        try loop.add(source, in: .default)
        try run(loop) { stage.pipe.send() }
    }

    private static func childInTerminal(_ loop: RunLoop) throws {
        let child = try Child.spawn(.name("true"), terminal: .init(columns: 80, rows: 24))
        defer {
            child.terminal?.close()
            // Its descriptor stays open until it is reaped.
            _ = try? child.send(SIGKILL)
            while child.exit == nil { usleep(1000) }
        }
        guard let output = child.standardOutput else { return }
        let reader = InputReader(output, as: .bytes) { _, event in if case .ended = event { loop.stop() } }
        defer { reader.invalidate() }
        try loop.add(reader, in: .default)
        try run(loop) {}
    }

    private static func check(_ what: String, _ condition: @autoclosure () throws -> Bool) throws {
        if try !condition() { throw WithoutEffect(what: what) }
    }

    /// The operation has returned without an error, and without its effect.
    struct WithoutEffect: Error {
        let what: String
    }
}
