import Glibc
import RunLoops
import RunLoopsEvents
import RunLoopsTestSupport
import Testing

@Suite(.timeLimit(.minutes(10))) struct DescriptorSourceTests {
    // MARK: Its life

    @Test func `What is written is told until it is read, and the hang-up after it`() throws {
        try withLoop { loop in
            let pipe = DescriptorPair.pipe()
            let calls = Box<[RunLoop.DescriptorEvents]>([])
            add(
                RunLoop.DescriptorSource(pipe.first) { source, events in
                    calls.value.append(events)
                    if calls.value.count == 2 { #expect(readText(source.number) == "x") }
                    if calls.value.count == 3 { source.invalidate() }
                    if calls.value.count == 2 { pipe.closeSecond() }
                }, to: loop)
            pipe.send()
            #expect(loop.runPlenty() == .finished)
            #expect(calls.value == [.readable, .readable, .hangUp])
        }
    }

    @Test func `The interest is changed from inside the closure`() throws {
        try withLoop { loop in
            let (here, there) = try RunLoop.Socket.pair()
            let calls = Box<[RunLoop.DescriptorEvents]>([])
            add(
                RunLoop.DescriptorSource(here.descriptor, for: .writable) { source, events in
                    calls.value.append(events)
                    if events == .writable {
                        source.events = .readable
                        _ = write(there.descriptor, "y", 1)
                    } else {
                        source.invalidate()
                    }
                }, to: loop)
            #expect(loop.runPlenty() == .finished)
            #expect(calls.value == [.writable, .readable])
        }
    }

    @Test func `Urgent bytes are a priority`() throws {
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

    @Test func `A regular file is always ready`() throws {
        try withLoop { loop in
            let directory = TemporaryDirectory()
            directory.write("file", "text")
            let file = open(directory.path("file"), O_RDONLY | O_CLOEXEC)
            let told = Box<RunLoop.DescriptorEvents>([])
            add(
                RunLoop.DescriptorSource(file, for: [.readable, .writable], closes: true) { source, events in
                    told.value = events
                    #expect(readText(source.number) == "text")
                    source.invalidate()
                }, to: loop)
            #expect(loop.runPlenty() == .finished)
            #expect(told.value == [.readable, .writable])
        }
    }

    @Test func `One that does not repeat is called once for each time it is armed`() throws {
        try withLoop { loop in
            let pipe = DescriptorPair.pipe()
            let calls = Box(0)
            let source = RunLoop.DescriptorSource(pipe.first, repeats: false) { source, _ in
                calls.value += 1
                #expect(source.events == [])
                if calls.value == 2 { source.events = .readable }
            }
            add(source, to: loop)
            pipe.send()
            #expect(loop.run(mode: .default, for: .milliseconds(5)) == .timedOut)
            #expect(calls.value == 1)
            source.events = .readable
            #expect(loop.run(mode: .default, for: .milliseconds(5)) == .timedOut)
            #expect(calls.value == 3)
            #expect(loop.contains(source, in: .default))
        }
    }

    @Test func `A source is told in its modes alone, and common ones are modes`() throws {
        try withLoop { loop in
            let pipe = DescriptorPair.pipe()
            let calls = Box(0)
            let source = RunLoop.DescriptorSource(pipe.first) { _, _ in calls.value += 1 }
            add(source, to: loop, in: "private")
            pipe.send()
            #expect(loop.poll() == .finished)
            #expect(calls.value == 0)
            loop.poll(mode: "private")
            #expect(calls.value == 1)
            loop.remove(source, from: "private")
            #expect(loop.poll(mode: "private") == .finished)
            add(source, to: loop, in: .common)
            loop.addCommonMode("late")
            loop.poll(mode: "late")
            loop.poll()
            #expect(calls.value == 3)
            loop.remove(source, from: .common)
            #expect(!loop.contains(source, in: .default))
            #expect(!loop.contains(source, in: "late"))
        }
    }

    @Test func `A source that was in one loop can be added to another`() throws {
        let pipe = DescriptorPair.pipe()
        let calls = Locked(0)
        let source = RunLoop.DescriptorSource.sendable(pipe.first) { _, _ in calls.increment() }
        pipe.send()
        for _ in 0..<2 {
            // The second time, the first thread has ended with the source in its loop.
            try withLoop { loop in
                add(source, to: loop)
                loop.poll()
            }
        }
        #expect(calls.count == 2)
    }

    @Test func `The result of adding says whether the source is in the mode`() throws {
        let pipe = DescriptorPair.pipe()
        let source = RunLoop.DescriptorSource.sendable(pipe.first) { _, _ in }
        let ended = TestThread.run { RunLoop.current }
        #expect(try !ended.add(source, in: .default))
        try withLoop { loop throws in
            #expect(try loop.add(source, in: .default))
            #expect(try loop.add(source, in: .default))
            #expect(try loop.add(source, in: .common))
            source.invalidate()
            #expect(try !loop.add(source, in: .default))
            #expect(!loop.contains(source, in: .default))
        }
    }

    @Test @MainActor func `A closure of the main actor goes to the main loop, from any thread`() throws {
        var said = 0
        let pipe = DescriptorPair.pipe()
        let (here, _) = try RunLoop.Socket.pair()
        let mode: RunLoop.Mode = "a mode of this test"
        let sources = [
            RunLoop.DescriptorSource.mainActor(pipe.first) { _, _ in said += 1 },
            try SignalSource.mainActor(SIGURG) { _, _ in said += 1 },
            try ChildSource.mainActor(getpid(), reaps: false) { _, _ in said += 1 },
            try FileWatch.mainActor(["/"]) { _, _ in said += 1 },
            try SocketListener.mainActor(on: .loopback()) { _, _ in said += 1 },
            try SocketConnector.mainActor(to: .loopback(port: 1)) { _, _ in said += 1 },
            SocketStream.mainActor(here) { _, _ in said += 1 },
        ]
        for source in sources {
            try RunLoop.main.add(source, in: mode)
            #expect(RunLoop.main.contains(source, in: mode))
            source.invalidate()
            #expect(!RunLoop.main.contains(source, in: mode))
        }
        #expect(said == 0)
    }

    // MARK: The worst

    @Test func `A source whose number is another file's falls silent and leaves the new one alone`() throws {
        try withLoop { loop in
            let old = DescriptorPair.pipe()
            let new = DescriptorPair.pipe()
            let stale = RunLoop.DescriptorSource(old.first) { _, _ in Issue.record("the old one was called") }
            add(stale, to: loop)
            #expect(dup2(new.first, old.first) == old.first)
            new.send("new")
            #expect(loop.run(mode: .default, for: .milliseconds(5)) == .timedOut)
            let fresh = RunLoop.DescriptorSource(old.first) { source, _ in
                #expect(readText(source.number) == "new")
                loop.stop()
            }
            add(fresh, to: loop)
            stale.events = [.readable, .writable]
            stale.invalidate()
            #expect(loop.runPlenty() == .stopped)
        }
    }

    @Test func `Arming a source whose descriptor was closed is told as an error`() throws {
        try withLoop { loop in
            let pipe = DescriptorPair.pipe()
            let number = duplicateFarAway(pipe.first)
            let told = Box<RunLoop.DescriptorEvents?>(nil)
            let source = RunLoop.DescriptorSource(number, for: []) { _, events in
                told.value = events
                loop.stop()
            }
            add(source, to: loop)
            close(number)
            source.events = .readable
            #expect(loop.runPlenty() == .stopped)
            #expect(told.value == .error)
            #expect(source.events == [])
            #expect(throws: RunLoop.SystemCallError(call: "epoll_ctl", code: EBADF)) {
                try loop.add(RunLoop.DescriptorSource(number) { _, _ in }, in: .default)
            }
        }
    }

    @Test func `A hang-up that nobody wants does not make the loop spin`() throws {
        try withLoop { loop in
            let pipe = DescriptorPair.pipe()
            let turns = Box(0)
            add(RunLoop.DescriptorSource(pipe.first, for: []) { _, _ in Issue.record("called") }, to: loop)
            loop.add(RunLoop.Observer(.beforeWaiting) { _, _ in turns.value += 1 }, in: .default)
            pipe.closeSecond()
            #expect(loop.run(mode: .default, for: .milliseconds(20)) == .timedOut)
            #expect(turns.value == 1)
        }
    }

    @Test func `Invalidated by another thread while it is called, it ends, and closes its descriptor only then`() throws {
        let rounds = isFull ? 10_000 : 500
        let open = Locked<EventSource?>(nil)
        let next = Permit()
        let other = TestThread {
            for _ in 0..<rounds {
                next.wait()
                open.withLock { $0 }?.invalidate()
            }
        }
        try withLoop { loop in
            for _ in 0..<rounds {
                let (here, there) = try RunLoop.Socket.pair()
                let number = dup(here.descriptor)
                _ = write(there.descriptor, "x", 1)
                let source = RunLoop.DescriptorSource.sendable(number, closes: true) { source, _ in
                    var byte: UInt8 = 0
                    let got = recv(source.number, &byte, 1, CInt(MSG_PEEK))
                    #expect(got == 1, "errno \(errno)")
                }
                add(source, to: loop)
                open.withLock { $0 = source }
                next.signal()
                // In small steps: whether a run has begun when its last source goes is a matter of chance.
                while source.isValid { loop.run(mode: .default, for: .milliseconds(1)) }
            }
        }
        other.join()
    }

    @Test func `A thousand at once are each told`() throws {
        raiseDescriptorLimit()
        try withLoop { loop in
            let pipes = (0..<1000).map { _ in DescriptorPair.pipe() }
            let calls = Box([Int](repeating: 0, count: pipes.count))
            for (place, pipe) in pipes.enumerated() {
                add(
                    RunLoop.DescriptorSource(pipe.first) { source, _ in
                        calls.value[place] += 1
                        readText(source.number)
                        source.invalidate()
                    }, to: loop)
                pipe.send()
            }
            #expect(loop.runPlenty() == .finished)
            #expect(calls.value == [Int](repeating: 1, count: pipes.count))
        }
    }

    // MARK: Memory

    @Test func `Nothing is left of a source that was invalidated, dropped, or in a loop that has ended`() throws {
        let witnesses = (0..<3).map { _ in Witness() }
        let pipe = DescriptorPair.pipe()
        try withLoop { loop in
            let sources = witnesses.map { witness in
                let token = Box(0)
                witness.watch(token)
                return RunLoop.DescriptorSource(pipe.first) { _, _ in token.value += 1 }
            }
            add(sources[0], to: loop)
            sources[0].invalidate()
            #expect(witnesses[0].isGone)
            add(sources[1], to: loop)
            _ = sources[2]
        }
        #expect(witnesses.allSatisfy { $0.isGone })
    }

    @Test func `A memory pressure monitor is a descriptor with priority`() throws {
        let monitor = open("/proc/pressure/memory", O_RDWR | O_NONBLOCK | O_CLOEXEC)
        // Not on every kernel, and not for every user.
        guard monitor >= 0 else { return }
        let threshold = "some 1000000 2000000"
        guard threshold.withCString({ write(monitor, $0, strlen($0) + 1) }) > 0 else {
            close(monitor)
            return
        }
        try withLoop { loop in
            let source = RunLoop.DescriptorSource(monitor, for: .priority, closes: true) { _, events in
                #expect(events == .priority)
            }
            add(source, to: loop)
            loop.poll()
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
