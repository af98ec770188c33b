// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import CRunLoopsKernel
import Glibc
import RunLoops
import RunLoopsEvents
import RunLoopsTestSupport
import Testing

/// A child between fork and exec holds a copy of each descriptor: what has ended must look ended all the same.
///
/// Each round has a child of its own, which holds its copies until the round is over, beside a thread that forks all the time.
@Suite(.ownThread, .serialized) struct HeldByChildTests {
    private let rounds = isFull ? 1000 : 20

    @Test(arguments: ["tcp", "unix"])
    func `An invalidated listener frees its address even if a child has a copy of its socket`(kind: String) throws {
        let directory = TemporaryDirectory()
        let forker = Forker(holding: 2_000)
        defer { forker.end() }
        var refused = 0
        var lookedAlive = 0
        for round in 0..<rounds where lookedAlive == 0 {
            let place =
                try kind == "tcp"
                ? RunLoop.SocketAddress.loopback() : .unix(directory.path("socket"))
            let listener = try SocketListener.sendable(on: place) { _, _ in }
            // Nobody accepts it.
            let waiting = RawClient(to: listener.address)
            let child = HoldingChild()
            defer { child.end() }
            listener.invalidate()
            if RawClient(to: listener.address) != nil { lookedAlive += 1 }
            if waiting?.readToEnd() == nil { lookedAlive += 1 }
            do {
                try SocketListener.sendable(on: listener.address) { _, _ in }.invalidate()
            } catch {
                refused += 1
            }
            #expect(lookedAlive == 0, "in round \(round)")
        }
        #expect(refused == 0)
    }

    @Test(arguments: ["tcp", "unix"], ["invalidated", "finished", "released"])
    func `An ended stream delivers its data and its end even if a child has a copy of its socket`(
        kind: String, end: String
    ) throws {
        let rounds = rounds
        let forker = Forker(holding: 2_000)
        defer { forker.end() }
        let counts = try withLoop { loop in
            var lost = 0
            var lookedAlive = 0
            for _ in 0..<rounds where lookedAlive == 0 {
                var stream: SocketStream?
                let other: RunLoop.Socket
                (stream, other) = try makeStream(loop, kind)
                stream?.write(repeatElement(7, count: 10_000))
                while stream?.unsentCount != 0 { loop.run(in: .default, for: .milliseconds(1)) }
                let child = HoldingChild()
                defer { child.end() }
                switch end {
                case "invalidated": stream?.invalidate()
                case "finished": stream?.finish()
                default:
                    if let stream { loop.remove(stream, from: .default) }
                    stream = nil
                }
                let received = RawClient(other.descriptor).readToEnd()
                if received == nil { lookedAlive += 1 }
                if let received, received != 10_000 { lost += 1 }
                stream?.invalidate()
                withExtendedLifetime(other) {}
            }
            return [lost, lookedAlive]
        }
        #expect(counts == [0, 0], "lost, looked alive")
    }

    @Test func `The kernel reports that a file was closed when the last copy is closed, and an unshared file has none`()
        throws
    {
        try withLoop { loop in
            let directory = TemporaryDirectory()
            let events = Box<[FileWatch.Event]>([])
            let watch = try FileWatch([directory.path], for: .written) { _, new in events.value += new }
            add(watch, to: loop)
            defer { watch.invalidate() }
            let shared = FileWatch.File(path: directory.path("shared"))
            let unshared = FileWatch.File(path: directory.path("unshared"))
            // First: its thread has copies of what was open before.
            let other = try #require(UnsharedFile(Array(unshared.path.utf8CString)))
            let file = open(shared.path, O_WRONLY | O_CREAT | O_CLOEXEC, 0o600)
            let child = HoldingChild()
            close(file)
            other.close()
            loop.runTurn()
            #expect(events.value == [.written(unshared)])
            child.end()
            loop.runTurn()
            #expect(events.value == [.written(unshared), .written(shared)])
        }
    }

    // MARK: What must not be ended

    @Test func `A duplicate of a connection's descriptor can still be written to after the socket is released`() throws
    {
        var socket: RunLoop.Socket?
        let other: RunLoop.Socket
        do {
            let (first, second) = try RunLoop.Socket.pair()
            (socket, other) = (first, second)
        }
        let copy = dup(try #require(socket).descriptor)
        defer { close(copy) }
        socket = nil
        #expect(write(copy, "on", 2) == 2)
        #expect(readText(other.descriptor) == "on")
    }
}

/// A stream in the loop that alone has its socket, and the other side.
private func makeStream(_ loop: RunLoop, _ kind: String) throws -> (SocketStream?, RunLoop.Socket) {
    let (here, there) = try kind == "unix" ? RunLoop.Socket.pair() : connectedByTCP(loop)
    let stream = SocketStream(here) { _, _ in }
    add(stream, to: loop)
    return (stream, there)
}

/// A connection by nothing but system calls.
private final class RawClient {
    private let descriptor: CInt
    private let isOurs: Bool

    init(_ descriptor: CInt) { (self.descriptor, isOurs) = (descriptor, false) }

    /// `nil` if nobody listens.
    init?(to address: RunLoop.SocketAddress) {
        var storage = [UInt8](repeating: 0, count: Int(RL_ADDRESS_ROOM))
        let length: CInt
        if let port = address.port {
            length = rl_address_internet(&storage, "127.0.0.1", port)
        } else {
            var path = address.path ?? ""
            length = path.withUTF8 { rl_address_unix(&storage, $0.baseAddress, $0.count) }
        }
        descriptor = rl_socket_create(rl_address_family(storage))
        isOurs = true
        let result = rl_socket_connect(descriptor, storage, UInt32(length))
        if result == 0 { return }
        // On this machine a connection is made or refused within the call, or soon after it.
        guard result == -EINPROGRESS, wait(POLLOUT), rl_socket_take_error(descriptor) == 0 else { return nil }
    }

    deinit { if isOurs { close(descriptor) } }

    /// How many bytes have come up to the end; `nil` if the end does not come.
    func readToEnd() -> Int? {
        var count = 0
        var space = [UInt8](repeating: 0, count: 65_536)
        while wait(POLLIN) {
            let result = read(descriptor, &space, space.count)
            // An error ends a connection as well.
            if result == 0 || result < 0 && errno != EAGAIN { return count }
            count += max(0, result)
        }
        return nil
    }

    private func wait(_ events: CInt) -> Bool {
        var wanted = pollfd(fd: descriptor, events: Int16(events), revents: 0)
        return poll(&wanted, 1, CInt(plenty.components.seconds * 1000)) == 1
    }
}
