// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import Glibc
import RunLoops
import RunLoopsEvents
import RunLoopsTestSupport
import Testing

/// What ends a process, or changes what belongs to all of it, happens in one of its own.
@Suite(.ownThread, .leavesNothing) struct SourceTrapProcessTests {
    // MARK: Misuse

    @Test func `A local source cannot be added to the loop of another thread`() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let other = try withLoop { $0 }
            try withLoop { _ in try other.add(SignalSource(SIGUSR1, label: "local") { _, _ in }, in: .default) }
        }
        expectText(result, "<SignalSource local>")
        expectText(result, "cannot be added to the loop of thread")
        expectText(result, "Make it with .sendable(")
    }

    @Test func `Invalidating a poll source on another thread traps`() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            try withLoop { _ in
                nonisolated(unsafe) let source = try PollSource(prepare: { _ in }, dispatch: { _ in })
                TestThread { source.invalidate() }.join()
            }
        }
        expectText(result, "A poll source was used by another thread than the one that made it: post the call")
    }

    @Test func `A main actor source can only be added to the main loop`() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let source = try SignalSource.mainActor(SIGUSR1) { _, _ in }
            try RunLoop.main.add(source, in: .common)
            RunLoop.main.remove(source, from: .common)
            try withLoop { loop in try loop.add(source, in: .default) }
        }
        expectText(result, "<SignalSource ")
        expectText(result, "cannot be added to the loop of thread")
    }

    @Test func `Adding a source to a second loop traps`() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let source = try SignalSource.sendable(SIGUSR1, label: "torn") { _, _ in }
            try withLoop { loop in
                try loop.add(source, in: .default)
                try withLoop { other in try other.add(source, in: .default) }
            }
        }
        expectText(result, "The event source torn was added to <RunLoop")
        expectText(result, "remove it there first, or make a second source")
    }

    @Test func `Making a signal source for SIGSEGV traps`() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            _ = try SignalSource.sendable(SIGSEGV) { _, _ in }
        }
        expectText(result, "is a fault of the thread that gets it")
    }

    // MARK: Descriptors

    @Test func `Without free descriptors a listener reports an error, pauses, and accepts again after resume`() async {
        await #expect(processExitsWith: .success) {
            try withLoop { loop in
                let said = Box<[CInt]>([])
                let hoard = Box<[CInt]>([])
                let listener = try SocketListener(on: .loopback()) { listener, event in
                    switch event {
                    case .refused(let error):
                        said.value.append(error.code)
                        #expect(listener.isPaused)
                        for number in hoard.value { close(number) }
                        listener.resume()
                    case .accepted:
                        said.value.append(0)
                        listener.invalidate()
                    }
                }
                add(listener, to: loop)
                let client = Box<RunLoop.Socket?>(nil)
                let connector = try SocketConnector(to: listener.address) { _, outcome in
                    client.value = try? outcome.get()
                }
                add(connector, to: loop, in: "connecting")
                #expect(loop.runPlenty("connecting") == .finished)
                // The connection is in the backlog; now there is no descriptor left for it.
                hoard.value = allDescriptorsLeft()
                #expect(loop.runPlenty() == .finished)
                #expect(said.value == [EMFILE, 0])
            }
        }
    }

    @Test func `A client that connects while no descriptor is free is accepted when one is free again`() async {
        await #expect(processExitsWith: .success) {
            try withLoop { loop in
                let directory = TemporaryDirectory()
                let address = try RunLoop.SocketAddress.unix(directory.path("socket"))
                let (refusals, hoard) = (Box<[CInt]>([]), Box<[CInt]>([]))
                try loop.answerLines(
                    at: address, in: .default,
                    onRefusal: { error in
                        refusals.value.append(error.code)
                        for number in hoard.value { close(number) }
                        hoard.value = []
                    }, { "\($0)!" })
                let client = Box<RunLoop.Socket?>(nil)
                let connector = try SocketConnector(to: address) { _, outcome in client.value = try? outcome.get() }
                add(connector, to: loop, in: "connecting")
                #expect(loop.runPlenty("connecting") == .finished)
                hoard.value = allDescriptorsLeft()
                let stream = SocketStream(try #require(client.value)) { _, event in
                    if case .received(let bytes) = event, bytes == Array("hello!\n".utf8) { loop.stop() }
                }
                add(stream, to: loop)
                stream.write("hello\n".utf8)
                #expect(loop.runPlenty() == .stopped)
                #expect(refusals.value == [EMFILE])
            }
        }
    }

    @Test func `Using every kind of source leaves no descriptor open`() async {
        await #expect(processExitsWith: .success) {
            await letDispatchOpenItsTimers()
            // The first of each may bring something that stays.
            try useEverySource()
            let before = countOpenDescriptors()
            for _ in 0..<20 { try useEverySource() }
            #expect(countOpenDescriptors() == before)
        }
    }

    @Test func `A signal of a forked child is not reported to its parent's source`() async {
        await #expect(processExitsWith: .success) {
            try withLoop { loop in
                let told = Box(0)
                let source = try SignalSource(SIGUSR1) { _, delivery in told.value += delivery.count }
                add(source, to: loop)
                let child = fork()
                if child == 0 {
                    raise(SIGUSR1)
                    _exit(0)
                }
                var status: CInt = -1
                waitpid(child, &status, 0)
                #expect(status == 0)
                loop.runTurn()
                #expect(told.value == 0)
                raise(SIGUSR1)
                loop.runTurn()
                #expect(told.value == 1)
            }
        }
    }
}

/// One of each kind, cancelled or left to the end of the loop.
private func useEverySource() throws {
    try withLoop { loop in
        let directory = TemporaryDirectory()
        let pipe = DescriptorPair.pipe()
        add(RunLoop.DescriptorSource(dup(pipe.first), closes: true) { _, _ in }, to: loop)
        add(try SignalSource(SIGUSR2) { _, _ in }, to: loop)
        add(try ChildSource(getpid(), reaps: false) { _, _ in }, to: loop)
        add(try FileWatch([directory.path], recursive: true) { _, _ in }, to: loop)
        let (here, there) = try RunLoop.Socket.pair()
        add(SocketStream(here) { _, _ in }, to: loop)
        let stream = SocketStream(there) { _, _ in }
        stream.invalidate()
        let listener = try SocketListener(on: .unix(directory.path("socket"))) { _, _ in }
        add(listener, to: loop)
        add(try SocketConnector(to: listener.address) { _, _ in }, to: loop)
        _ = try SocketConnector(to: listener.address) { _, _ in }
        add(try HostConnector(to: .host("127.0.0.1", 1)) { _, _ in }, to: loop)
        _ = try HostConnector(to: .host("127.0.0.1", 1)) { _, _ in }
        #expect(throws: RunLoop.SystemCallError.self) { _ = try SocketListener(on: listener.address) { _, _ in } }
        #expect(throws: RunLoop.SystemCallError.self) { _ = try FileWatch([directory.path("none")]) { _, _ in } }
        #expect(throws: RunLoop.SystemCallError.self) { _ = try SignalSource(SIGKILL) { _, _ in } }
        for _ in 0..<5 { loop.runTurn() }
    }
}

/// Opens descriptors until the process may have no more; returns them.
private func allDescriptorsLeft() -> [CInt] {
    var all: [CInt] = []
    while case let number = open("/dev/null", O_RDONLY | O_CLOEXEC), number >= 0 { all.append(number) }
    return all
}
