// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import Glibc
import RunLoops
import RunLoopsEvents
import RunLoopsKit
import RunLoopsTestSupport
import Testing

@Suite(.ownThread, .leavesNothing) struct SocketTests {
    // MARK: Addresses

    @Test func `Socket addresses are described by their text, and invalid addresses throw`() throws {
        #expect(try RunLoop.SocketAddress.internet("127.0.0.1", port: 80).description == "127.0.0.1:80")
        #expect(try RunLoop.SocketAddress.internet("::1", port: 65535).description == "[::1]:65535")
        #expect(try RunLoop.SocketAddress.internet("::1", port: 65535).port == 65535)
        #expect(try RunLoop.SocketAddress.unix("/run/x").description == "/run/x")
        #expect(try RunLoop.SocketAddress.unix("/run/x").path == "/run/x")
        #expect(try RunLoop.SocketAddress.unix("\0hidden").description == "@hidden")
        #expect(try RunLoop.SocketAddress.unix("\0hidden").path == nil)
        #expect(throws: RunLoop.SystemCallError(call: "inet_pton", code: EINVAL)) {
            try RunLoop.SocketAddress.internet("localhost", port: 80)
        }
        for path in ["", String(repeating: "x", count: 108)] {
            #expect(throws: RunLoop.SystemCallError(call: "sockaddr_un", code: ENAMETOOLONG)) {
                try RunLoop.SocketAddress.unix(path)
            }
        }
    }

    // MARK: Listening and connecting

    @Test(arguments: ["tcp", "unix", "abstract"])
    func `A client that connects is accepted, and both sides can send`(kind: String) throws {
        try withLoop { loop in
            let directory = TemporaryDirectory()
            let address =
                switch kind {
                case "tcp": RunLoop.SocketAddress.loopback()
                case "unix": try RunLoop.SocketAddress.unix(directory.path("socket"))
                default: try RunLoop.SocketAddress.unix("\0\(directory.path)")
                }
            let said = Box<[String]>([])
            let listener = try SocketListener(on: address) { listener, event in
                guard case .accepted(let socket) = event else {
                    Issue.record("\(event)")
                    return
                }
                listener.invalidate()
                add(
                    SocketStream(socket) { stream, event in
                        switch event {
                        case .received(let bytes): stream.write(bytes.reversed())
                        case .ended: stream.finish()
                        default: said.value.append("server: \(event)")
                        }
                    }, to: loop)
            }
            add(listener, to: loop)
            let connector = try SocketConnector(to: listener.address) { _, outcome in
                guard case .success(let socket) = outcome else {
                    Issue.record("\(outcome)")
                    return
                }
                #expect(socket.peerAddress == listener.address)
                let stream = SocketStream(socket) { _, event in
                    if case .received(let bytes) = event {
                        said.value.append("client: " + String(decoding: bytes, as: UTF8.self))
                    } else {
                        said.value.append("client: \(event)")
                    }
                }
                add(stream, to: loop)
                stream.write("hello".utf8)
                stream.finish()
            }
            add(connector, to: loop)
            #expect(loop.runPlenty() == .finished)
            let client = said.value.filter { $0.hasPrefix("client") }
            #expect(client == ["client: olleh", "client: ended", "client: closed"])
            #expect(said.value.filter { $0.hasPrefix("server") } == ["server: closed"])
            if kind == "unix" { #expect(access(directory.path("socket"), F_OK) != 0) }
        }
    }

    @Test func `Connecting to an address without a listener fails`() throws {
        try withLoop { loop in
            let directory = TemporaryDirectory()
            let errors = Box<[CInt]>([])
            // A port that is free for sure, since it was just given and taken back.
            let listener = try SocketListener(on: .loopback()) { _, _ in }
            listener.invalidate()
            for address in [listener.address, try .unix(directory.path("nothing"))] {
                add(
                    try SocketConnector(to: address) { connector, outcome in
                        #expect(!connector.isValid)
                        if case .failure(let error) = outcome { errors.value.append(error.code) }
                    }, to: loop)
            }
            #expect(loop.runPlenty() == .finished)
            #expect(errors.value.sorted() == [ENOENT, ECONNREFUSED])
        }
    }

    @Test func `connect(to:) returns the socket to a task or throws the error`() async throws {
        let directory = TemporaryDirectory()
        let thread = try RunLoopThread(name: "connect")
        let listener = try SocketListener.sendable(on: .unix(directory.path("socket"))) { _, _ in }
        try thread.loop.add(listener, in: .default)
        let socket = try await thread.loop.connect(to: listener.address)
        #expect(socket.peerAddress == listener.address)
        await #expect(throws: RunLoop.SystemCallError(call: "connect", code: ENOENT)) {
            _ = try await thread.loop.connect(to: .unix(directory.path("nothing")))
        }
        end(thread)
    }

    @Test func `A second listener on an address throws EADDRINUSE until the first is invalidated`() throws {
        let directory = TemporaryDirectory()
        for address in [RunLoop.SocketAddress.loopback(), try .unix(directory.path("socket"))] {
            let first = try SocketListener.sendable(on: address) { _, _ in }
            #expect(throws: RunLoop.SystemCallError(call: "bind", code: EADDRINUSE)) {
                _ = try SocketListener.sendable(on: first.address) { _, _ in }
            }
            first.invalidate()
            _ = try SocketListener.sendable(on: first.address) { _, _ in }
        }
    }

    @Test func `A paused listener accepts no client until it is resumed`() throws {
        try withLoop { loop in
            let accepted = Box(0)
            let listener = try SocketListener(on: .loopback()) { listener, event in
                accepted.value += 1
                if accepted.value == 1 { listener.pause() } else { listener.invalidate() }
            }
            add(listener, to: loop)
            for _ in 0..<2 { add(try SocketConnector(to: listener.address) { _, _ in }, to: loop) }
            loop.run(in: .default, for: .milliseconds(5))
            while accepted.value == 0 { loop.run(in: .default, for: .milliseconds(5)) }
            #expect(accepted.value == 1)
            #expect(listener.isPaused)
            listener.resume()
            #expect(loop.runPlenty() == .finished)
            #expect(accepted.value == 2)
        }
    }

    // MARK: Streams

    @Test func `Megabytes arrive complete and in order through a small buffer`() throws {
        try withLoop { loop in
            let total = isFull ? 32 << 20 : 2 << 20
            let (here, there) = try RunLoop.Socket.pair()
            // Little room in the kernel, so that the buffer is needed.
            var room: CInt = 32_768
            setsockopt(here.descriptor, SOL_SOCKET, SO_SNDBUF, &room, socklen_t(MemoryLayout<CInt>.size))
            let sent = Box(0)
            let received = Box(0)
            let drains = Box(0)
            let most = Box(0)
            func fill(_ stream: SocketStream) {
                var hasRoom = true
                while hasRoom, sent.value < total {
                    let count = min(total - sent.value, 1 + (sent.value % 50_000))
                    let start = sent.value
                    sent.value += count
                    hasRoom = stream.write(pattern(start, count))
                    most.value = max(most.value, stream.unsentCount)
                }
                if sent.value == total { stream.finish() }
            }
            let writer = SocketStream(here) { stream, event in
                guard event == .drained else { return }
                drains.value += 1
                fill(stream)
            }
            add(writer, to: loop)
            add(
                SocketStream(there) { stream, event in
                    if case .received(let bytes) = event {
                        let isRight = bytes[...] == pattern(received.value, bytes.count)
                        #expect(isRight)
                        received.value += bytes.count
                    } else if event == .ended {
                        stream.finish()
                    }
                }, to: loop)
            fill(writer)
            #expect(loop.runPlenty() == .finished)
            #expect(received.value == total)
            #expect(drains.value > 0)
            // The mark, and one write over it.
            #expect(most.value <= 65536 + 50_000)
        }
    }

    @Test func `A paused reader makes the writer wait, and no byte is lost`() throws {
        try withLoop { loop in
            let (here, there) = try RunLoop.Socket.pair()
            let total = 1 << 20
            let received = Box(0)
            let writer = SocketStream(here) { _, event in #expect([.drained, .ended, .closed].contains(event)) }
            let reader = SocketStream(there) { stream, event in
                if case .received(let bytes) = event { received.value += bytes.count }
                if event == .ended { stream.finish() }
            }
            add(writer, to: loop)
            add(reader, to: loop)
            reader.isReadingPaused = true
            #expect(!writer.write(repeatElement(7, count: total)))
            writer.finish()
            loop.run(in: .default, for: .milliseconds(5))
            #expect(received.value == 0)
            #expect(writer.unsentCount > 0)
            reader.isReadingPaused = false
            #expect(loop.runPlenty() == .finished)
            #expect(received.value == total)
        }
    }

    @Test func `A stream that has finished can still read`() throws {
        try withLoop { loop in
            let (here, there) = try RunLoop.Socket.pair()
            let said = Box<[SocketStream.Event]>([])
            let asker = SocketStream(here) { _, event in said.value.append(event) }
            let answerer = SocketStream(there) { stream, event in
                guard event == .ended else { return }
                // It has ended, and is answered.
                stream.write([1, 2, 3])
                stream.finish()
                stream.finish()
            }
            add(asker, to: loop)
            add(answerer, to: loop)
            asker.finish()
            #expect(loop.runPlenty() == .finished)
            #expect(said.value == [.received([1, 2, 3]), .ended, .closed])
            #expect(!asker.isValid)
        }
    }

    @Test func `A write after finish sends nothing, and the other side can still write`() throws {
        try withLoop { loop in
            let (here, there) = try RunLoop.Socket.pair()
            let received = Box<[UInt8]>([])
            let answers = Box<[Bool]>([])
            // Answers all that it receives, also after its own end.
            let server = SocketStream(here) { stream, event in
                if case .received(let bytes) = event { answers.value += bytes.map { stream.write([$0]) } }
            }
            let client = SocketStream(there) { stream, event in
                if case .received(let bytes) = event { received.value += bytes }
                guard event == .ended else { return }
                stream.write([2])
                stream.finish()
            }
            add(server, to: loop)
            add(client, to: loop)
            server.write([1])
            server.finish()
            #expect(!server.write([3]))
            #expect(server.unsentCount == 0)
            #expect(loop.runPlenty() == .finished)
            #expect(received.value == [1])
            #expect(answers.value == [false])
            #expect(!server.isValid)
        }
    }

    @Test func `Writes of several threads to one stream are not interleaved`() throws {
        try withLoop { loop in
            let (here, there) = try RunLoop.Socket.pair()
            let writes = isFull ? 20_000 : 2000
            let received = Box<[UInt8]>([])
            let writer = SocketStream.sendable(here) { _, _ in }
            add(writer, to: loop)
            add(
                SocketStream(there) { stream, event in
                    if case .received(let bytes) = event { received.value += bytes }
                    if event == .ended { stream.finish() }
                }, to: loop)
            let done = Locked(0)
            let threads = (1...4).map { number in
                TestThread {
                    for _ in 0..<writes { writer.write(repeatElement(UInt8(number), count: 7)) }
                    done.increment()
                    if done.count == 4 { writer.finish() }
                }
            }
            #expect(loop.runPlenty() == .finished)
            for thread in threads { thread.join() }
            #expect(received.value.count == 4 * 7 * writes)
            let isWhole = stride(from: 0, to: received.value.count, by: 7).allSatisfy { start in
                received.value[start..<start + 7].allSatisfy { $0 == received.value[start] }
            }
            #expect(isWhole)
        }
    }

    // MARK: The worst

    @Test func `A stream reports the bytes received before a reset of the connection, and then ECONNRESET`() throws {
        try withLoop { loop in
            let here: RunLoop.Socket
            do {
                let (kept, there) = try connectedByTCP(loop)
                here = kept
                _ = write(there.descriptor, "half a mes", 10)
                // Closed without a farewell, as by a machine that loses its power and comes back.
                var hurry = linger(l_onoff: 1, l_linger: 0)
                setsockopt(there.descriptor, SOL_SOCKET, SO_LINGER, &hurry, socklen_t(MemoryLayout<linger>.size))
            }
            let said = Box<[SocketStream.Event]>([])
            let stream = SocketStream(here) { _, event in said.value.append(event) }
            add(stream, to: loop)
            #expect(loop.runPlenty() == .finished)
            let error = RunLoop.SystemCallError(call: "recv", code: ECONNRESET)
            #expect(said.value == [.received(Array("half a mes".utf8)), .failed(error)])
            #expect(!stream.isValid)
        }
    }

    @Test func `Writing to a closed connection fails with EPIPE and raises no signal`() throws {
        try withLoop { loop in
            let stream: SocketStream
            let said = Box<[SocketStream.Event]>([])
            do {
                let (here, there) = try RunLoop.Socket.pair()
                SocketStream(there) { _, _ in }.write("last words".utf8)
                stream = SocketStream(here) { stream, event in
                    said.value.append(event)
                    if case .received = event { stream.write(repeatElement(1, count: 100)) }
                }
            }
            add(stream, to: loop)
            #expect(loop.runPlenty() == .finished)
            #expect(said.value.first == .received(Array("last words".utf8)))
            #expect(said.value.last == .failed(RunLoop.SystemCallError(call: "send", code: EPIPE)))
            #expect(!stream.write([1]))
            stream.finish()
        }
    }

    @Test func `A paused or completely read stream does not spin when the other side closes`() throws {
        try withLoop { loop in
            let turns = Box(0)
            let streams = try (0..<2).map { number in
                let (here, _) = try RunLoop.Socket.pair()
                let stream = SocketStream(here) { _, event in #expect(event == .ended || event == .closed) }
                if number == 0 { stream.isReadingPaused = true }
                return stream
            }
            for stream in streams { add(stream, to: loop) }
            loop.add(RunLoop.Observer(.beforeWaiting) { _, _ in turns.value += 1 }, in: .default)
            #expect(loop.run(in: .default, for: .milliseconds(20)) == .timedOut)
            #expect(turns.value <= 3)
            // The stream now reports what it had put off.
            streams[0].isReadingPaused = false
            for stream in streams { stream.finish() }
            #expect(loop.runPlenty() == .finished)
        }
    }

    @Test func `A stream invalidated in its closure closes its socket and reports nothing more`() throws {
        try withLoop { loop in
            let (here, there) = try RunLoop.Socket.pair()
            let stream = SocketStream(here) { stream, event in
                #expect(event == .received([1, 2]))
                stream.write([3])
                stream.invalidate()
            }
            _ = write(there.descriptor, [1, 2] as [UInt8], 2)
            add(stream, to: loop)
            #expect(loop.runPlenty() == .finished)
            #expect(readText(there.descriptor) == "\u{3}")
            #expect(stream.unsentCount == 0)
        }
    }

    @Test(.needsDescriptors(2000)) func `Each of a thousand concurrent streams gets its answer`() throws {
        try withLoop { loop in
            let answers = Box(0)
            for number in 0..<1000 {
                let (here, there) = try RunLoop.Socket.pair()
                let message = Array("message \(number)".utf8)
                let asker = SocketStream(here) { stream, event in
                    if event == .received(message.reversed()) { answers.value += 1 }
                    if event == .ended { stream.finish() }
                }
                add(asker, to: loop)
                add(
                    SocketStream(there) { stream, event in
                        guard case .received(let bytes) = event else { return }
                        stream.write(bytes.reversed())
                        stream.finish()
                    }, to: loop)
                asker.write(message)
            }
            #expect(loop.runPlenty() == .finished)
            #expect(answers.value == 1000)
        }
    }

    @Test(.needsDescriptors(3000)) func `A thousand connecting clients are all accepted`() throws {
        try withLoop { loop in
            let directory = TemporaryDirectory()
            let connected = Box(0)
            let accepted = Box(0)
            let listener = try SocketListener(on: .unix(directory.path("socket")), backlog: 1000) { listener, event in
                if case .accepted = event { accepted.value += 1 }
                if accepted.value == 1000 { listener.invalidate() }
            }
            add(listener, to: loop)
            for _ in 0..<1000 {
                add(
                    try SocketConnector(to: listener.address) { _, outcome in
                        if case .success = outcome { connected.value += 1 }
                    }, to: loop)
            }
            #expect(loop.runPlenty() == .finished)
            #expect(connected.value == 1000)
            #expect(accepted.value == 1000)
        }
    }
}

/// Bytes of a long message from a place on; they show whether a byte was lost or moved.
private func pattern(_ place: Int, _ count: Int) -> ArraySlice<UInt8> {
    let start = place % patternPeriod
    return patternBytes[start..<start + count]
}

/// A prime, longer than any portion.
private let patternPeriod = 65_537
private let patternBytes = (0..<2 * patternPeriod).map { place in
    let place = place % patternPeriod
    return UInt8(truncatingIfNeeded: place &* 31 &+ place >> 8)
}
