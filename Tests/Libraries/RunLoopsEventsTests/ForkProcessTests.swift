// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import Glibc
import RunLoops
import RunLoopsEvents
import RunLoopsTestSupport
import Testing

/// A forked child takes nothing from its parent's event sources, and has event sources of its own.
@Suite(
    .ownThread, .leavesNothing,
    .disabled(if: Sanitizer.isAny, "a sanitizer copies its locks, and calls a leak what a child inherits"))
struct ForkProcessTests {
    // Swift Testing before 6.3 takes no value into an exit test.
    #if compiler(>=6.3)
    @Test(arguments: ["invalidate", "remove", "release", "exit"])
    func `A child's calls on a file watch do not affect the parent's watch`(_ deed: String) async {
        await #expect(processExitsWith: .success) { [deed] in
            try withLoop { loop in
                let directory = TemporaryDirectory()
                let told = Box<[FileWatch.Event]>([])
                var watch: FileWatch? = try FileWatch([directory.path]) { _, events in told.value += events }
                if let watch { add(watch, to: loop) }
                let path = directory.path
                let end = ForkedChild.run {
                    switch deed {
                    case "invalidate": watch?.invalidate()
                    case "remove":
                        watch?.remove(path)
                        try watch?.insert("/")
                    case "release": watch = nil
                    default: exit(0)
                    }
                    return watch?.isValid != true
                }
                #expect(end == .good)
                directory.write("new")
                loop.runTurn()
                #expect(told.value.count == 2, "created and written: \(told.value)")
                #expect(watch?.watchCount == 1)
            }
        }
    }
    #endif

    @Test func `A forked child can have its own signal sources, and its parent's sources continue`() async {
        await #expect(processExitsWith: .success) {
            try withLoop { loop in
                let told = Box<[SignalSource.Delivery]>([])
                let source = try SignalSource(SIGUSR1) { _, delivery in told.value.append(delivery) }
                add(source, to: loop)
                let end = ForkedChild.run {
                    let own = RunLoop.current
                    let (first, second) = (Box(0), Box(0))
                    let sources = try [first, second].map { box in
                        try SignalSource(SIGUSR1) { _, delivery in box.value += delivery.count }
                    }
                    for source in sources { add(source, to: own) }
                    raise(SIGUSR1)
                    for _ in 0..<3 { own.runTurn() }
                    guard first.value == 1, second.value == 1, !source.isValid else { return false }
                    // Frees the parent's sink, and leaves the child's own alone.
                    source.invalidate()
                    raise(SIGUSR1)
                    for _ in 0..<3 { own.runTurn() }
                    return first.value == 2 && second.value == 2
                }
                #expect(end == .good)
                loop.runTurn()
                #expect(told.value == [])
                raise(SIGUSR1)
                loop.runTurn()
                #expect(told.value.map(\.sender?.process) == [getpid()])
            }
        }
    }

    @Test func `A child's only signal source restores the disposition that preceded its parent's source`() async {
        await #expect(processExitsWith: .success) {
            try withLoop { loop in
                signal(SIGUSR1, SIG_IGN)
                let source = try SignalSource(SIGUSR1) { _, _ in }
                add(source, to: loop)
                let end = ForkedChild.run {
                    try SignalSource(SIGUSR1) { _, _ in }.invalidate()
                    var present = sigaction()
                    sigaction(SIGUSR1, nil, &present)
                    return unsafeBitCast(present.__sigaction_handler.sa_handler, to: Int.self)
                        == unsafeBitCast(SIG_IGN, to: Int.self)
                }
                #expect(end == .good)
                var present = sigaction()
                sigaction(SIGUSR1, nil, &present)
                #expect(
                    unsafeBitCast(present.__sigaction_handler.sa_handler, to: Int.self)
                        != unsafeBitCast(SIG_IGN, to: Int.self))
                withExtendedLifetime(source) {}
            }
        }
    }

    @Test func `A signal watched by a parent and sent to its child neither ends the child nor reaches the parent`()
        async
    {
        await #expect(processExitsWith: .success) {
            try withLoop { loop in
                let told = Box(0)
                add(try SignalSource(SIGTERM) { _, _ in told.value += 1 }, to: loop)
                let (ready, over) = (DescriptorPair.pipe(), DescriptorPair.sockets())
                let child = ForkedChild {
                    ready.send()
                    // Until the parent says so, or has gone.
                    _ = fcntl(over.first, F_SETFL, 0)
                    return readText(over.first) == "x"
                }
                var wanted = pollfd(fd: ready.first, events: Int16(POLLIN), revents: 0)
                #expect(poll(&wanted, 1, -1) == 1)
                for _ in 0..<100 { kill(child.process, SIGTERM) }
                over.send()
                #expect(child.end() == .good)
                loop.runTurn()
                #expect(told.value == 0)
            }
        }
    }

    @Test func `A parent's ChildSource is invalid in a child, and the child can watch its own processes`() async {
        await #expect(processExitsWith: .success) {
            try withLoop { loop in
                let over = DescriptorPair.pipe()
                let first = ForkedChild {
                    _ = fcntl(over.first, F_SETFL, 0)
                    return readText(over.first) == "x"
                }
                let exits = Box<[ChildSource.Exit]>([])
                let source = try ChildSource(first.process) { _, exit in exits.value.append(exit) }
                add(source, to: loop)
                let end = ForkedChild.run {
                    guard !source.isValid, (try? source.send(SIGKILL)) == nil else { return false }
                    let grandchild = ForkedChild { false }
                    let status = Box<ChildSource.Status?>(nil)
                    let own = try ChildSource(grandchild.process) { _, exit in
                        status.value = exit.status
                        RunLoop.current.stop()
                    }
                    add(own, to: .current)
                    return RunLoop.current.runPlenty() == .stopped && status.value == .exited(1)
                }
                #expect(end == .good)
                over.send()
                #expect(loop.runPlenty() == .finished)
                #expect(exits.value.map(\.status) == [.exited(0)])
            }
        }
    }

    @Test func `A parent's listener stays reachable after a child invalidates or releases it`() async {
        await #expect(processExitsWith: .success) {
            try withLoop { loop in
                let directory = TemporaryDirectory()
                let accepted = Box(0)
                let address = try RunLoop.SocketAddress.unix(directory.path("socket"))
                var listener: SocketListener? = try SocketListener(on: address) { _, event in
                    if case .accepted = event { accepted.value += 1 }
                    RunLoop.current.stop()
                }
                if let listener { add(listener, to: loop) }
                for isReleased in [false, true] {
                    let end = ForkedChild.run {
                        if isReleased { listener = nil } else { listener?.invalidate() }
                        return true
                    }
                    #expect(end == .good)
                    add(try SocketConnector(to: address) { _, _ in }, to: loop)
                    #expect(loop.runPlenty() == .stopped)
                }
                #expect(accepted.value == 2)
                withExtendedLifetime(listener) {}
            }
        }
    }

    @Test func `A child can write to its parent's socket, and closes its copy when it releases the socket`() async {
        await #expect(processExitsWith: .success) {
            try withLoop { loop in
                let pair = DescriptorPair.sockets()
                var lent: RunLoop.Socket? = try RunLoop.Socket(adopting: dup(pair.second))
                pair.closeSecond()
                let user = ForkedChild.run {
                    guard let socket = lent else { return false }
                    return SocketStream(socket) { _, _ in }.write(Array("from a child".utf8))
                }
                #expect(user == .good)
                #expect(readText(pair.first) == "from a child")
                let (released, over) = (DescriptorPair.pipe(), DescriptorPair.pipe())
                let releaser = ForkedChild {
                    lent = nil
                    released.send()
                    _ = fcntl(over.first, F_SETFL, 0)
                    return readText(over.first) == "x"
                }
                lent = nil
                var wanted = pollfd(fd: released.first, events: Int16(POLLIN), revents: 0)
                #expect(poll(&wanted, 1, -1) == 1)
                // No copy is left: the other side sees the end although the child lives.
                var byte: UInt8 = 0
                #expect(read(pair.first, &byte, 1) == 0)
                over.send()
                #expect(releaser.end() == .good)
            }
        }
    }

    @Test func `A child can use a connection that its parent has made and released`() async {
        await #expect(processExitsWith: .success) {
            var lent: RunLoop.Socket?
            let other: RunLoop.Socket
            do {
                let (first, second) = try RunLoop.Socket.pair()
                (lent, other) = (first, second)
            }
            let over = DescriptorPair.pipe()
            let child = ForkedChild {
                _ = fcntl(over.first, F_SETFL, 0)
                guard readText(over.first) == "x", let socket = lent else { return false }
                return SocketStream(socket) { _, _ in }.write(Array("from a child".utf8))
            }
            lent = nil
            over.send()
            #expect(child.end() == .good)
            #expect(readText(other.descriptor) == "from a child")
        }
    }

    @Test func `A connection that a child invalidates and releases still works in its parent`() async {
        await #expect(processExitsWith: .success) {
            let (first, second) = try RunLoop.Socket.pair()
            var stream: SocketStream? = SocketStream(first) { _, _ in }
            let end = ForkedChild.run {
                stream?.invalidate()
                stream = nil
                return true
            }
            #expect(end == .good)
            #expect(stream?.write(Array("still here".utf8)) == true)
            #expect(readText(second.descriptor) == "still here")
        }
    }
}
