// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import CRunLoopsKernel
import Glibc
import RunLoops
import RunLoopsTestSupport
import Testing

@testable import RunLoopsEvents

/// What all sources have in common, and descriptors that only this module can make.
@Suite(.ownThread, .leavesNothing) struct EventSourceTests {
    @Test @MainActor func `A main actor source of each kind can be added to the main loop and invalidated`() throws {
        var said = 0
        let (here, _) = try RunLoop.Socket.pair()
        let mode: RunLoop.Mode = "a mode of this test"
        let sources: [EventSource] = [
            // No other test has this signal: what it does belongs to the process.
            try SignalSource.mainActor(SIGVTALRM) { _, _ in said += 1 },
            try ChildSource.mainActor(getpid(), reaps: false) { _, _ in said += 1 },
            try FileWatch.mainActor(["/"]) { _, _ in said += 1 },
            try SocketListener.mainActor(on: .loopback()) { _, _ in said += 1 },
            try SocketConnector.mainActor(to: .loopback(port: 1)) { _, _ in said += 1 },
            try HostConnector.mainActor(to: .host("127.0.0.1", 1)) { _, _ in said += 1 },
            SocketStream.mainActor(here) { _, _ in said += 1 },
            InputReader.mainActor(.standardInput, as: .lines) { _, _ in said += 1 },
            OutputWriter.mainActor(.standardOutput) { _, _ in said += 1 },
        ]
        for source in sources {
            try RunLoop.main.add(source, in: mode)
            #expect(RunLoop.main.contains(source, in: mode))
            source.invalidate()
            #expect(!RunLoop.main.contains(source, in: mode))
        }
        #expect(said == 0)
    }

    @Test func `A source that was in one loop can be added to another`() throws {
        let (here, there) = try RunLoop.Socket.pair()
        let calls = Locked(0)
        let source = SocketStream.sendable(here) { _, _ in calls.increment() }
        for round in 1...2 {
            _ = write(there.descriptor, "x", 1)
            // The second time, the first thread has ended with the source in its loop.
            try withLoop { loop in
                add(source, to: loop)
                loop.runTurn()
            }
            #expect(calls.count == round)
        }
    }

    @Test func `A source is called only in its modes, including the common modes`() throws {
        try withLoop { loop in
            let calls = Box(0)
            let listener = try SocketListener(on: .loopback()) { _, _ in calls.value += 1 }
            let connectors = try (0..<3).map { _ in try SocketConnector(to: listener.address) { _, _ in } }
            add(listener, to: loop, in: "private")
            #expect(loop.runTurn() == .finished)
            #expect(calls.value == 0)
            loop.runTurn(in: "private")
            #expect(calls.value == 1)
            loop.remove(listener, from: "private")
            #expect(loop.runTurn(in: "private") == .finished)
            add(listener, to: loop, in: .common)
            try loop.addCommonMode("late")
            loop.runTurn(in: "late")
            loop.runTurn()
            #expect(calls.value == 3)
            loop.remove(listener, from: .common)
            #expect(!loop.contains(listener, in: .default))
            #expect(!loop.contains(listener, in: "late"))
            withExtendedLifetime(connectors) {}
        }
    }

    @Test func `A listener that cannot be watched after resume reports the error and stays paused`() throws {
        try withLoop { loop in
            let said = Box<[CInt]>([])
            let socket = rl_socket_create(AF_INET)
            var storage = [UInt8](repeating: 0, count: Int(RL_ADDRESS_ROOM))
            let length = rl_address_internet(&storage, "127.0.0.1", 0)
            #expect(rl_socket_listen(socket, storage, UInt32(length), 8) == 0)
            // Nobody else gets this number while it is closed.
            let number = duplicateFarAway(socket)
            let listener = try SocketListener(adopting: ListenDescriptor(descriptor: number, name: "far away")) {
                listener, event in
                if case .refused(let error) = event { said.value.append(error.code) }
                #expect(listener.isPaused)
                loop.stop()
            }
            add(listener, to: loop)
            listener.pause()
            // Behind its back.
            close(number)
            listener.resume()
            #expect(loop.runPlenty() == .stopped)
            #expect(said.value == [EBADF])
            // Its number is given back to it, so that it does not close another file.
            #expect(dup2(socket, number) == number)
            close(socket)
        }
    }

    @Test func `Urgent TCP bytes are reported as priority`() throws {
        try withLoop { loop in
            let (here, there) = try connectedByTCP(loop)
            _ = send(there.descriptor, "!", 1, CInt(MSG_OOB))
            let told = Box<RunLoop.DescriptorEvents>([])
            add(
                RunLoop.DescriptorSource(here.descriptor, for: .priority) { source, events in
                    told.value = events
                    source.invalidate()
                }, to: loop)
            #expect(loop.runPlenty() == .finished)
            #expect(told.value == .priority)
        }
    }

    /// A descriptor that reports stalls for memory; -1 where the kernel has none, or not for this user.
    private static func openPressureMonitor() -> CInt {
        let monitor = open("/proc/pressure/memory", O_RDWR | O_NONBLOCK | O_CLOEXEC)
        let threshold = "some 1000000 2000000"
        if monitor >= 0, threshold.withCString({ write(monitor, $0, strlen($0) + 1) }) > 0 { return monitor }
        close(monitor)
        return -1
    }

    private static let hasPressureMonitor = close(openPressureMonitor()) == 0

    @Test(.enabled(if: hasPressureMonitor, "there is no monitor of memory pressure for this user"))
    func `A memory pressure monitor can be watched for priority`() throws {
        let monitor = Self.openPressureMonitor()
        try withLoop { loop in
            let source = RunLoop.DescriptorSource(monitor, for: .priority, closes: true) { _, events in
                #expect(events == .priority)
            }
            add(source, to: loop)
            loop.runTurn()
            #expect(loop.contains(source, in: .default))
        }
    }
}

/// Two sockets connected over the loopback device.
func connectedByTCP(_ loop: RunLoop) throws -> (RunLoop.Socket, RunLoop.Socket) {
    let accepted = Box<RunLoop.Socket?>(nil)
    let connected = Box<RunLoop.Socket?>(nil)
    let mode = RunLoop.Mode("connecting")
    let listener = try SocketListener(on: .loopback()) { listener, event in
        if case .accepted(let socket) = event { accepted.value = socket }
        listener.invalidate()
    }
    let connector = try SocketConnector(to: listener.address) { _, outcome in connected.value = try? outcome.get() }
    add(listener, to: loop, in: mode)
    add(connector, to: loop, in: mode)
    #expect(loop.runPlenty(mode) == .finished)
    return (try #require(accepted.value), try #require(connected.value))
}
