// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import Foundation
import FoundationRunLoop
import RunLoops
import RunLoopsTestSupport
import Testing

import class FoundationRunLoop.Port
import protocol FoundationRunLoop.PortDelegate
import class FoundationRunLoop.PortMessage
import class FoundationRunLoop.RunLoop
import class FoundationRunLoop.SocketPort

@testable import FoundationRunLoop

/// Ports that are sockets, on real sockets of this machine.
@Suite(.ownThread) struct SocketPortTests {
    /// The TCP port of a local port.
    private func number(_ port: SocketPort) throws -> UInt16 {
        try #require(
            SocketSignature(
                family: port.protocolFamily, type: port.socketType, protocol: port.protocol, address: port.address
            ).port)
    }

    /// Runs this thread's loop until so many messages have arrived.
    private func receive(_ count: Int, _ notes: PortNotes) {
        while notes.messages.count < count { RunLoop.current.run(mode: .default, before: .distantFuture) }
    }

    private func onThread(_ body: @escaping @Sendable () throws -> Void) throws { try TestThread.run(body) }

    @Test func `A message sent over a connection is received with its data, ports and reply port`() throws {
        try onThread {
            let (server, answers) = (try #require(SocketPort(tcpPort: 0)), try #require(SocketPort(tcpPort: 0)))
            let (heard, answered) = (PortNotes(), PortNotes())
            server.setDelegate(heard)
            answers.setDelegate(answered)
            RunLoop.current.add(server, forMode: .default)
            RunLoop.current.add(answers, forMode: .default)
            heard.onMessage = { message in
                let answer = PortMessage(sendPort: message.sendPort, receivePort: nil, components: message.components)
                answer.msgid = message.msgid + 1
                #expect(answer.send(before: .distantFuture))
            }
            let remote = try #require(SocketPort(remoteWithTCPPort: number(server), host: "localhost"))
            for text in ["one", "two", String(repeating: "long ", count: 100_000)] {
                let sent = PortMessage(
                    sendPort: remote, receivePort: answers, components: [NSData(data: Data(text.utf8)), answers])
                sent.msgid = 41
                // Two threads: what is long does not fit into the system's buffers before somebody reads.
                nonisolated(unsafe) let message = sent
                let sender = TestThread { _ = message.send(before: .distantFuture) }
                receive(heard.messages.count + 1, heard)
                sender.join()
                receive(answered.messages.count + 1, answered)
            }
            #expect(heard.texts == answered.texts)
            #expect(heard.texts.map(\.count) == [3, 3, 500_000])
            #expect(answered.messages.allSatisfy { $0.msgid == 42 && $0.sendPort == nil })
            let port = try #require(heard.messages.first?.components?.last as? SocketPort)
            #expect(port.address == answers.address)
            server.invalidate()
            answers.invalidate()
        }
    }

    @Test func `Messages that arrive together keep their order if a delegate runs the loop`() throws {
        try onThread {
            let (server, notes) = (try #require(SocketPort(tcpPort: 0)), PortNotes())
            server.setDelegate(notes)
            RunLoop.current.add(server, forMode: .default)
            let remote = try #require(SocketPort(remoteWithTCPPort: number(server), host: nil))
            func send(_ text: String) {
                #expect(
                    remote.send(
                        before: Date(timeIntervalSinceNow: 300), components: parts(NSData(data: Data(text.utf8))),
                        from: nil, reserved: 0))
            }
            notes.onMessage = { _ in
                if notes.messages.count == 1 {
                    send("four")
                    while notes.messages.count < 4 { RunLoop.current.run(mode: .default, before: .distantFuture) }
                } else if notes.messages.count == 5 {
                    server.invalidate()
                }
            }
            for text in ["one", "two", "three"] { send(text) }
            receive(4, notes)
            #expect(notes.texts == ["one", "two", "three", "four"])
            for text in ["five", "six", "seven"] { send(text) }
            receive(5, notes)
            #expect(notes.texts.dropFirst(4) == ["five"])
            // The closure has the notes.
            notes.onMessage = { _ in }
        }
    }

    @Test func `A remote port is nil if the host's name contains a zero byte`() throws {
        let server = try #require(SocketPort(tcpPort: 0))
        #expect(SocketPort(remoteWithTCPPort: try number(server), host: "localhost\0.example.org") == nil)
        server.invalidate()
    }

    @Test func `An invalidated port receives no message even if a child holds copies of its sockets`() throws {
        try onThread {
            for _ in 0..<(isFull ? 1000 : 20) {
                let (server, notes) = (try #require(SocketPort(tcpPort: 0)), PortNotes())
                server.setDelegate(notes)
                RunLoop.current.add(server, forMode: .default)
                let remote = try #require(SocketPort(remoteWithTCPPort: number(server), host: nil))
                func send() -> Bool {
                    remote.send(
                        before: Date(timeIntervalSinceNow: 300), components: parts(Data([1])), from: nil, reserved: 0)
                }
                #expect(send())
                receive(1, notes)
                let child = HoldingChild()
                defer { child.end() }
                server.invalidate()
                #expect(!send())
            }
        }
    }

    @Test func `Socket ports exchange messages with Foundation's socket ports`() throws {
        try onThread {
            let (ours, notes) = (try #require(SocketPort(tcpPort: 0)), PortNotes())
            ours.setDelegate(notes)
            RunLoop.current.add(ours, forMode: .default)
            // Foundation's sends without a loop.
            let toOurs = try #require(FoundationsPort(remoteWithTCPPort: number(ours), host: "127.0.0.1"))
            let sent = toOurs.send(
                before: Date(timeIntervalSinceNow: 300), msgid: 7, components: parts(Data("from Foundation".utf8)),
                from: nil, reserved: 0)
            #expect(sent)
            receive(1, notes)
            #expect(notes.texts == ["from Foundation"])
            #expect(notes.messages.first?.msgid == 7)
            ours.invalidate()

            // And receives in its own loop, on this thread.
            let (theirs, heard) = (try #require(FoundationsPort(tcpPort: 0)), FoundationNotes())
            theirs.setDelegate(heard)
            Foundation.RunLoop.current.add(theirs, forMode: .default)
            let signature = SocketSignature(
                family: theirs.protocolFamily, type: theirs.socketType, protocol: theirs.protocol,
                address: theirs.address)
            let place = try #require(signature.port)
            let toTheirs = try #require(SocketPort(remoteWithTCPPort: place, host: nil))
            #expect(
                toTheirs.send(
                    before: .distantFuture, msgid: 8, components: parts(Data("to Foundation".utf8)), from: nil,
                    reserved: 0))
            while heard.texts.isEmpty {
                _ = Foundation.RunLoop.current.run(mode: .default, before: Date(timeIntervalSinceNow: 1))
            }
            #expect(heard.texts == ["8 to Foundation"])
            // Foundation crashes when one of its ports becomes invalid in a loop.
            Foundation.RunLoop.current.remove(theirs, forMode: .default)
            theirs.invalidate()
        }
    }

    private typealias FoundationsPort = Foundation.SocketPort

    private final class FoundationNotes: Foundation.PortDelegate {
        var texts: [String] = []
        func handle(_ message: Foundation.PortMessage) {
            let data = message.components?.first as? NSData
            texts.append("\(message.msgid) \(String(decoding: (data ?? NSData()) as Data, as: UTF8.self))")
        }
    }

    @Test func `A datagram is received, and a message too large for a datagram is not sent`() throws {
        try onThread {
            let address = SocketSignature.inet(port: 0, host: in_addr(s_addr: INADDR_LOOPBACK.bigEndian))
            let kind = Int32(SOCK_DGRAM.rawValue)
            let server = try #require(
                SocketPort(protocolFamily: PF_INET, socketType: kind, protocol: 0, address: address))
            let notes = PortNotes()
            server.setDelegate(notes)
            RunLoop.current.add(server, forMode: .default)
            let remote = SocketPort(
                remoteWithProtocolFamily: PF_INET, socketType: kind, protocol: 0, address: server.address)
            #expect(
                remote.send(before: .distantFuture, msgid: 3, components: parts(Data("d".utf8)), from: nil, reserved: 0)
            )
            receive(1, notes)
            #expect(notes.texts == ["d"])
            // More than a datagram can have.
            let large = parts(Data(count: 100_000))
            #expect(!remote.send(before: .distantFuture, components: large, from: nil, reserved: 0))
            server.invalidate()
        }
    }

    @Test func `A remote port connects again after the other side has closed the connection`() throws {
        try onThread {
            var server = try #require(SocketPort(tcpPort: 0))
            let (port, notes) = (try number(server), PortNotes())
            let remote = try #require(SocketPort(remoteWithTCPPort: port, host: "127.0.0.1"))
            for round in 1...3 {
                server.setDelegate(notes)
                RunLoop.current.add(server, forMode: .default)
                #expect(remote.send(before: .distantFuture, components: nil, from: nil, reserved: 0))
                receive(round, notes)
                server.invalidate()
                #expect(!remote.send(before: .distantFuture, components: nil, from: nil, reserved: 0))
                server = try #require(SocketPort(tcpPort: port))
            }
            server.invalidate()
        }
    }

    @Test func `A send returns false if the receiver has not read the message by the date`() throws {
        // A socket with little room, so that the message does not fit into the system's buffers.
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var room: Int32 = 4096
        setsockopt(descriptor, SOL_SOCKET, SO_RCVBUF, &room, 4)
        #expect(SocketCalls.bind(descriptor, to: SocketSignature.inet(port: 0)))
        let server = try #require(
            SocketPort(
                protocolFamily: PF_INET, socketType: Int32(SOCK_STREAM.rawValue), protocol: 0, socket: descriptor))
        let remote = try #require(SocketPort(remoteWithTCPPort: number(server), host: nil))
        let large = parts(Data(count: 8_000_000))
        #expect(!remote.send(before: Date(timeIntervalSinceNow: 2), components: large, from: nil, reserved: 0))
        server.invalidate()
    }

    @Test func `A message above the size limit is not sent`() {
        let nobody = SocketSignature(family: 2, type: 1, protocol: 6, address: SocketSignature.inet(port: 0))
        func frame(_ count: Int) -> Data? {
            SocketFrame(number: 0, sender: nobody, parts: [.data(Data(count: count))]).bytes
        }
        #expect(frame(SocketFrame.maxBytes) == nil)
        #expect(frame(SocketFrame.maxBytes - 40)?.count == SocketFrame.maxBytes)
    }

    @Test func `A port is released and its socket closed when its thread ends`() {
        let witness = Witness()
        let address = TestThread.run {
            let port = SocketPort()
            witness.watch(port)
            RunLoop.current.add(port, forMode: .default)
            RunLoop.current.add(port, forMode: .tracking)
            return port.address
        }
        #expect(witness.isGone)
        // Its address is free again.
        let next = SocketPort(
            protocolFamily: PF_INET, socketType: Int32(SOCK_STREAM.rawValue), protocol: 0, address: address)
        #expect(next != nil)
        next?.invalidate()
    }

    @Test func `Remote ports are equal by address and local ports by identity`() throws {
        let remotes = try (0..<2).map { _ in try #require(SocketPort(remoteWithTCPPort: 9, host: "127.0.0.1")) }
        #expect(remotes[0] == remotes[1])
        #expect(Set(remotes).count == 1)
        #expect(remotes[0].socket == -1)
        let local = SocketPort()
        #expect(local != SocketPort())
        #expect(local.socket >= 0)
        #expect(local.protocolFamily == PF_INET && local.socketType == Int32(SOCK_STREAM.rawValue))
        local.invalidate()
        #expect(local.socket == -1 && !local.isValid)
        #expect(!local.send(before: .distantFuture, components: nil, from: nil, reserved: 0))
    }

    @Test func `A descriptor that is not a socket, an address in use and an unknown host are refused`() throws {
        #expect(
            SocketPort(protocolFamily: PF_INET, socketType: Int32(SOCK_STREAM.rawValue), protocol: 0, socket: -1)
                == nil)
        let first = try #require(SocketPort(tcpPort: 0))
        #expect(SocketPort(tcpPort: try number(first)) == nil)
        #expect(SocketPort(remoteWithTCPPort: 1, host: "no such host.invalid") == nil)
        first.invalidate()
    }

    // MARK: The wire

    @Test func `A socket frame read from its bytes equals the frame that was written`() throws {
        let inet6 = {
            var address = sockaddr_in6()
            address.sin6_family = sa_family_t(AF_INET6)
            address.sin6_port = UInt16(80).bigEndian
            address.sin6_addr.__in6_u.__u6_addr8.15 = 1
            address.sin6_scope_id = 9
            return withUnsafeBytes(of: address) { Data($0) }
        }()
        let signatures = [SocketSignature.inet(port: 1234), inet6, Data([1, 0, 47, 97])].map {
            SocketSignature(family: 2, type: 1, protocol: 6, address: $0)
        }
        for signature in signatures {
            #expect(SocketSignature(wire: try #require(signature.wire)) == signature)
            let frame = SocketFrame(
                number: .max, sender: signature, parts: [.data(Data([1, 2])), .port(signature), .data(Data())])
            let bytes = try #require(frame.bytes)
            let read = try #require(SocketFrame(bytes: bytes))
            #expect(read.number == .max && read.sender == signature && read.parts == frame.parts)
        }
        // In the layout of Apple's systems.
        #expect([UInt8](try #require(signatures[0].wire).prefix(8)) == [2, 1, 6, 16, 16, 2, 4, 210])
        #expect([UInt8](try #require(signatures[1].wire).prefix(8)) == [2, 1, 6, 28, 28, 30, 0, 80])
    }

    @Test func `Truncated or changed frames are refused`() throws {
        let signature = SocketSignature(family: 2, type: 1, protocol: 6, address: SocketSignature.inet(port: 1))
        let frame = SocketFrame(number: 1, sender: signature, parts: [.data(Data("abc".utf8)), .port(signature)])
        let bytes = try #require(frame.bytes)
        for count in 0..<bytes.count { #expect(SocketFrame(bytes: Data(bytes.prefix(count))) == nil) }
        #expect(SocketFrame.count(beginning: Data(count: 8)) == nil)
        // Any change is refused or read; neither traps.
        var random = SeededRandom(15)
        var read = 0
        for _ in 0..<20_000 {
            var changed = bytes
            for _ in 0..<Int.random(in: 1...3, using: &random) {
                changed[Int.random(in: 0..<changed.count, using: &random)] = UInt8.random(in: 0...255, using: &random)
            }
            if SocketFrame(bytes: changed) != nil { read += 1 }
        }
        #expect(read > 0 && read < 20_000)
    }

    @Test func `A connection with another protocol is closed and the port continues`() throws {
        try onThread {
            let (server, notes) = (try #require(SocketPort(tcpPort: 0)), PortNotes())
            server.setDelegate(notes)
            RunLoop.current.add(server, forMode: .default)
            let stranger = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
            #expect(SocketCalls.connect(stranger, to: server.address) == 0)
            let text = "GET / HTTP/1.1\r\n\r\n"
            #expect(write(stranger, text, text.utf8.count) == text.utf8.count)
            let remote = try #require(SocketPort(remoteWithTCPPort: number(server), host: nil))
            #expect(remote.send(before: .distantFuture, components: nil, from: nil, reserved: 0))
            receive(1, notes)
            // Closed, with what was sent unread or read.
            while true {
                var byte: UInt8 = 0
                if recv(stranger, &byte, 1, Int32(MSG_DONTWAIT)) == 0 || errno == ECONNRESET { break }
                RunLoop.current.run(mode: .default, before: Date(timeIntervalSinceNow: 0.01))
            }
            close(stranger)
            server.invalidate()
        }
    }
}
