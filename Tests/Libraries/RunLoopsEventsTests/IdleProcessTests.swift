// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import CRunLoopsKernel
import Glibc
import RunLoops
import RunLoopsEvents
import RunLoopsTestSupport
import Testing

/// What the parts of a daemon cost while nothing happens.
@Suite(.ownThread, .leavesNothing) struct IdleProcessTests {
    @Test func `No part of the library wakes an idle loop, and each part releases its resources when it ends`() async {
        await #expect(processExitsWith: .success) {
            try withLoop { loop in
                // The loop's own descriptors and the first child of the process.
                _ = try measure(loop) { try parts[1].make(loop) }
                for (name, make) in parts {
                    let before = Possessions.now
                    let (sleeps, awakenings) = try measure(loop) { try make(loop) }
                    // One sleep, and the end of the time.
                    #expect(sleeps == 1, "\(name)")
                    #expect(awakenings == 1, "\(name)")
                    #expect(Possessions.now == before, "\(name)")
                }
            }
        }
    }
}

/// How long a loop rests: as long as the table of the documentation says in full, a moment else.
private let rest = isFull ? Duration.seconds(5) : .milliseconds(50)

/// Makes something, counts how often the loop sleeps and wakes while it is there, and ends it.
private func measure(_ loop: RunLoop, _ make: () throws -> () -> Void) throws -> (sleeps: Int, awakenings: Int) {
    let end = try make()
    // What the part does at once is no rest.
    loop.runUntilIdle()
    var counts = (sleeps: 0, awakenings: 0)
    let observer = RunLoop.Observer([.beforeWaiting, .afterWaiting]) { _, activity in
        if activity == .beforeWaiting { counts.sleeps += 1 } else { counts.awakenings += 1 }
    }
    loop.add(observer, in: .default)
    #expect(loop.run(in: .default, for: rest) == .timedOut)
    observer.invalidate()
    end()
    #expect(loop.runPlenty() == .finished)
    return counts
}

private typealias Part = (name: String, make: @Sendable (RunLoop) throws -> () -> Void)

private let parts: [Part] = [
    (
        "nothing",
        { loop in
            let timer = RunLoop.Timer(.after(.seconds(3600))) { _ in }
            loop.add(timer, in: .default)
            return { timer.invalidate() }
        }
    ),
    (
        "ChildSource",
        { loop in
            let child = try Child.spawn(.name("sleep"), arguments: ["600"])
            try loop.add(ChildSource(child) { _, _ in }, in: .default)
            return { child.terminate() }
        }
    ),
    (
        "ChildCompletion",
        { loop in
            let child = try Child.spawn(.name("sleep"), arguments: ["600"], output: .pipe, error: .pipe)
            try loop.add(ChildCompletion(child) { _, _ in }, in: .default)
            return { child.terminate() }
        }
    ),
    (
        "terminate(killAfter:)",
        { loop in
            let child = try Child.spawn(
                .name("sh"), arguments: ["-c", "trap '' TERM; echo ready; read line"], input: .pipe, output: .pipe)
            if let output = child.standardOutput?.descriptor { _ = rl_wait_readable(output, -1) }
            child.terminate(killAfter: .seconds(3600), on: loop, in: .default)
            return { child.standardInput?.close() }
        }
    ),
    (
        "InputReader",
        { loop in
            let pipe = DescriptorPair.pipe()
            let reader = InputReader(RunLoop.File(borrowing: pipe.first), as: .lines) { _, _ in }
            try loop.add(reader, in: .default)
            return {
                reader.invalidate()
                withExtendedLifetime(pipe) {}
            }
        }
    ),
    (
        "OutputWriter, empty and full",
        { loop in
            let pipes = [DescriptorPair.pipe(), DescriptorPair.pipe()]
            let writers = pipes.map { OutputWriter(RunLoop.File(borrowing: $0.second)) { _, _ in } }
            for writer in writers { try loop.add(writer, in: .default) }
            _ = rl_make_nonblocking(pipes[1].second)
            while writers[1].write([UInt8](repeating: 0, count: 65536)) {}
            return {
                for writer in writers { writer.invalidate() }
                withExtendedLifetime(pipes) {}
            }
        }
    ),
    (
        "FileWatch and FileFollower, with a window",
        { loop in
            let directory = TemporaryDirectory()
            // Other programs make and remove names in the directory above all the time.
            directory.write("file")
            let sources = [
                try FileWatch([directory.path], coalescing: .milliseconds(1)) { _, _ in },
                try FileFollower(directory.path("file"), coalescing: .milliseconds(1)) { _, _ in },
            ]
            for source in sources { try loop.add(source, in: .default) }
            return {
                for source in sources { source.invalidate() }
                withExtendedLifetime(directory) {}
            }
        }
    ),
    (
        "NotifySocket without a watchdog",
        { loop in
            let directory = TemporaryDirectory()
            let manager = ServiceManagerStandIn(directory.path("notify"))
            let socket = try NotifySocket(manager.path)
            try socket.send(.ready, .status("idle"))
            #expect(try socket.watchdogTimer { _ in } == nil)
            let timer = RunLoop.Timer(.after(.seconds(3600))) { _ in }
            loop.add(timer, in: .default)
            return {
                timer.invalidate()
                withExtendedLifetime((directory, manager)) {}
            }
        }
    ),
    (
        "SocketListener and SocketStream",
        { loop in
            let directory = TemporaryDirectory()
            let streams = Box<[SocketStream]>([])
            let open = { (socket: RunLoop.Socket) in
                let stream = SocketStream(socket) { _, _ in }
                add(stream, to: loop)
                streams.value.append(stream)
            }
            let address = try RunLoop.SocketAddress.unix(directory.path("socket"))
            let listener = try SocketListener(on: address) { _, event in
                if case .accepted(let socket) = event { open(socket) }
            }
            let connector = try SocketConnector(to: address) { _, result in
                if case .success(let socket) = result { open(socket) }
            }
            for source in [listener, connector] { try loop.add(source, in: .default) }
            return {
                #expect(streams.value.count == 2)
                for source in streams.value + [listener] { source.invalidate() }
                streams.value = []
                withExtendedLifetime(directory) {}
            }
        }
    ),
    (
        "SignalSource",
        { loop in
            let source = try SignalSource(SIGWINCH) { _, _ in }
            try loop.add(source, in: .default)
            return { source.invalidate() }
        }
    ),
]

/// What a process has of the kernel's: not the runtime's own, which come and go at their times.
private struct Possessions: Equatable {
    var descriptors: [String]
    var threads: [String]
    var children: String

    static var now: Possessions {
        let kinds = ["anon_inode:inotify", "anon_inode:[pidfd]", "pidfd", "pipe", "socket"]
        return Possessions(
            descriptors: namesOfEntries("/proc/self/fd").map { target("/proc/self/fd/\($0)") }
                .filter { name in kinds.contains { name.hasPrefix($0) } }.sorted(),
            threads: namesOfOwnThreads(),
            children: firstLine("/proc/thread-self/children"))
    }

    private static func target(_ path: String) -> String {
        var bytes = [CChar](repeating: 0, count: 256)
        let count = max(0, readlink(path, &bytes, bytes.count))
        return String(decoding: bytes.prefix(count).map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
}
