// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import Glibc
import RunLoops
import RunLoopsTestSupport
import Testing

@testable import RunLoopsPorts

/// A forked child leaves its parent's ports, names and connections alone, keeps none of them alive, and has its own.
@Suite(
    .ownThread,
    .disabled(if: Sanitizer.isAny, "a sanitizer copies its locks, and calls a leak what a child inherits"))
struct ForkProcessTests {
    // Swift Testing before 6.3 takes no value into an exit test.
    #if compiler(>=6.3)
    @Test(arguments: ["invalidate", "release", "exit"])
    func `A child's calls on a port do not affect its parent's name and messages`(_ deed: String) async {
        await #expect(processExitsWith: .success) { [deed] in
            let directory = try TestDirectory()
            try TestThread.run { () throws in
                let received = Box<[String]>([])
                var port: RunLoop.MessagePort? = RunLoop.MessagePort { message in
                    received.value.append(message.text)
                    RunLoop.current.stop()
                    return nil
                }
                try port?.publish(as: "name", in: directory.ports)
                if let port { try RunLoop.current.add(port, in: .default) }
                let end = ForkedChild.run {
                    guard port?.isValid == false else { return false }
                    switch deed {
                    case "invalidate": port?.invalidate()
                    case "release": port = nil
                    default: exit(0)
                    }
                    return true
                }
                #expect(end == .good)
                let child = ForkedChild {
                    // By the name, as any other process does.
                    let sender = try RunLoop.MessagePort.Sender(named: "name", in: directory.ports)
                    try sender.send(.init(text: deed), within: plenty)
                    return true
                }
                #expect(RunLoop.current.runPlenty() == .stopped)
                #expect(child.end() == .good)
                #expect(received.value == [deed])
                #expect(try directory.ports.publishedPorts().map(\.process) == [getpid()])
                withExtendedLifetime(port) {}
            }
        }
    }
    #endif

    @Test func `A port's name is free after its process has ended, even if a child of the process lives`() async {
        await #expect(processExitsWith: .success) {
            let directory = try TestDirectory()
            let over = DescriptorPair.sockets()
            let owner = ForkedChild {
                let port = RunLoop.MessagePort.sendable { _ in nil }
                try port.publish(as: "name", in: directory.ports)
                try RunLoop.current.add(port, in: .default)
                // Not waited for: it outlives its parent.
                _ = ForkedChild {
                    over.closeFirst()
                    var byte: UInt8 = 0
                    _ = fcntl(over.second, F_SETFL, 0)
                    return read(over.second, &byte, 1) == 0
                }
                return true
            }
            #expect(owner.end() == .good)
            #expect(throws: RunLoop.PortError.noSuchPort("name")) {
                try directory.sender("name").send(.init(text: "x"), within: plenty)
            }
            let port = RunLoop.MessagePort.sendable { _ in nil }
            #expect(throws: Never.self) { try port.publish(as: "name", in: directory.ports) }
            // The end of the descriptor ends the process that has waited for it.
            over.closeFirst()
            over.closeSecond()
            port.invalidate()
        }
    }

    @Test func `A sender is dead after the port's process has ended, even if a child of the process lives`() async {
        await #expect(processExitsWith: .success) {
            let directory = try TestDirectory()
            let (published, end) = (DescriptorPair.pipe(), DescriptorPair.sockets())
            let helped = DescriptorPair.pipe()
            let owner = ForkedChild {
                let loop = RunLoop.current
                let port = RunLoop.MessagePort { _ in
                    // With the connection open: a child that lives longer.
                    _ = ForkedChild {
                        end.closeFirst()
                        helped.send()
                        var byte: UInt8 = 0
                        _ = fcntl(end.second, F_SETFL, 0)
                        return read(end.second, &byte, 1) == 0
                    }
                    loop.stop()
                    return nil
                }
                try port.publish(as: "name", in: directory.ports)
                try loop.add(port, in: .default)
                published.send()
                return loop.runPlenty() == .stopped
            }
            wait(for: published)
            let sender = try directory.sender("name")
            try sender.send(.init(text: "x"), within: plenty)
            wait(for: helped)
            #expect(owner.end() == .good)
            #expect(sender.isDead)
            end.closeFirst()
            end.closeSecond()
        }
    }

    @Test func `In a child, a sender taken from the parent's port is dead, and a sender made by name connects again`()
        async
    {
        await #expect(processExitsWith: .success) {
            let directory = try TestDirectory()
            let received = Locked<[String]>([])
            let server = Server(
                RunLoop.MessagePort.sendable { message in
                    received.withLock { $0.append(message.text) }
                    return .init(text: "to " + message.text)
                })
            try server.port.publish(as: "name", in: directory.ports)
            let (inside, named) = (server.port.sender, try directory.sender("name"))
            try TestThread.run { () throws in
                #expect(try named.request(.init(text: "parent"), within: plenty).text == "to parent")
                let end = ForkedChild.run {
                    guard refusal({ try inside.send(.init(text: "x")) }) == .dead, inside.isDead, !named.isDead else {
                        return false
                    }
                    return try named.request(.init(text: "child"), within: plenty).text == "to child"
                }
                #expect(end == .good)
                #expect(try named.request(.init(text: "parent again"), within: plenty).text == "to parent again")
            }
            #expect(!inside.isDead)
            #expect(received.copy == ["parent", "child", "parent again"])
            server.end()
        }
    }

    @Test func `A reply right released by a child stays valid in its parent`() async {
        await #expect(processExitsWith: .success) {
            let directory = try TestDirectory()
            let kept = Locked<RunLoop.MessagePort.Sender?>(nil)
            let came = Permit()
            let server = Server(
                RunLoop.MessagePort.sendable { message in
                    kept.withLock { $0 = message.replyTo }
                    came.signal()
                    return nil
                })
            try server.port.publish(as: "name", in: directory.ports)
            let sender = try directory.sender("name")
            // First without a fork, so that the threads have made what the Swift runtime makes once, under locks of its own.
            for forks in [false, true] {
                let answer = Locked<String?>(nil)
                let asker = TestThread {
                    let reply = try? sender.request(.init(text: "?"), within: plenty)
                    answer.withLock { $0 = reply?.text ?? "no answer" }
                }
                came.wait()
                let end =
                    forks
                    ? ForkedChild.run {
                        kept.withLock { $0 = nil }
                        return true
                    } : .good
                #expect(end == .good)
                try kept.copy?.send(.init(text: "answer"))
                kept.withLock { $0 = nil }
                asker.join()
                #expect(answer.copy == "answer")
            }
            server.end()
        }
    }

    @Test func `A child has its own ports and cannot take its parent's name while the parent lives`() async {
        await #expect(processExitsWith: .success) {
            let directory = try TestDirectory()
            let port = RunLoop.MessagePort.sendable { _ in nil }
            try port.publish(as: "name", in: directory.ports)
            let (published, asked) = (DescriptorPair.pipe(), DescriptorPair.pipe())
            let child = ForkedChild {
                let loop = RunLoop.current
                let own = RunLoop.MessagePort { message in
                    loop.stop()
                    return .init(text: "child has " + message.text)
                }
                guard refusal({ try port.publish(as: "other", in: directory.ports) }) == .dead else { return false }
                guard try loop.add(port, in: .default) == false else { return false }
                guard refusal({ try own.publish(as: "name", in: directory.ports) }) == .nameTaken("name") else {
                    return false
                }
                try own.publish(as: "own", in: directory.ports)
                try loop.add(own, in: .default)
                published.send()
                guard loop.runPlenty() == .stopped else { return false }
                wait(for: asked)
                own.invalidate()
                return true
            }
            wait(for: published)
            try TestThread.run { () throws in
                #expect(try directory.sender("own").request(.init(text: "x"), within: plenty).text == "child has x")
            }
            asked.send()
            #expect(child.end() == .good)
            #expect(try directory.ports.publishedPorts().map(\.name) == ["name"])
            port.invalidate()
        }
    }
}

/// Waits until something was sent.
private func wait(for pair: DescriptorPair) {
    var wanted = pollfd(fd: pair.first, events: Int16(POLLIN), revents: 0)
    while poll(&wanted, 1, -1) < 0 {}
}

/// What `body` throws.
private func refusal(_ body: () throws -> Void) -> RunLoop.PortError? {
    do { try body() } catch { return error as? RunLoop.PortError }
    return nil
}
