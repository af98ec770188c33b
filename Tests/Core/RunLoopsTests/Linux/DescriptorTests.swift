// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import Glibc
import RunLoopsTestSupport
import Testing

@testable import RunLoops

/// Real descriptors on the real kernel, with both ways of waiting.
@Suite(.ownThread) struct DescriptorTests {
    static let ways: [FineWait] = [.nanosecondCall, .timerDescriptor]

    @Test(arguments: ways) func `A pipe wakes the loop when there is something to read`(way: FineWait) {
        let pipe = DescriptorPair.pipe()
        let read = withRealLoop(fineWait: way) { loop -> String in
            let read = Box("")
            let source = RunLoop.DescriptorSource(pipe.first) { source, events in
                #expect(events.contains(.readable))
                read.value += readText(source.descriptor)
                // Both at once if the second came before the first was read.
                if read.value.count == 2 { loop.stop() }
            }
            addDescriptorSource(source, to: loop)
            // A far timer makes the wait a timed one.
            loop.add(RunLoop.Timer(.after(.seconds(3600))) { _ in }, in: .default)
            let writer = TestThread {
                waitUntil { loop.isWaiting }
                pipe.send("a")
                waitUntil { loop.isWaiting }
                pipe.send("b")
            }
            #expect(loop.runPlenty() == .stopped)
            writer.join()
            return read.value
        }
        #expect(read == "ab")
    }

    @Test(arguments: ways) func `A socket is writable at once and readable after the other side wrote`(
        way: FineWait
    ) {
        let sockets = DescriptorPair.sockets()
        let told = withRealLoop(fineWait: way) { loop -> [RunLoop.DescriptorEvents] in
            let told = Box<[RunLoop.DescriptorEvents]>([])
            let source = RunLoop.DescriptorSource(sockets.first, for: .writable) { source, events in
                told.value.append(events)
                if told.value.count == 1 {
                    // A change inside the closure counts before the next callout.
                    source.events = .readable
                    sockets.send("x")
                } else {
                    loop.stop()
                }
            }
            addDescriptorSource(source, to: loop)
            #expect(loop.runPlenty() == .stopped)
            return told.value
        }
        #expect(told == [.writable, .readable])
    }

    @Test func `The end of a stream is reported as readable and hangUp`() {
        let sockets = DescriptorPair.sockets()
        withRealLoop { loop in
            let told = Box<RunLoop.DescriptorEvents>([])
            addDescriptorSource(
                RunLoop.DescriptorSource(sockets.first) { source, events in
                    told.value = events
                    #expect(readText(source.descriptor) == "")
                    source.invalidate()
                }, to: loop)
            sockets.closeSecond()
            #expect(loop.runPlenty() == .finished)
            #expect(told.value.contains([.readable, .hangUp]))
        }
    }

    @Test func `A closed pipe is reported to a source that asks for hangUp alone`() {
        let pipe = DescriptorPair.pipe()
        withRealLoop { loop in
            let told = Box<RunLoop.DescriptorEvents>([])
            addDescriptorSource(
                RunLoop.DescriptorSource(pipe.first, for: .hangUp) { source, events in
                    told.value = events
                    source.invalidate()
                }, to: loop)
            pipe.closeSecond()
            #expect(loop.runPlenty() == .finished)
            #expect(told.value == .hangUp)
        }
    }

    @Test func `Several sources on one descriptor are all called`() {
        let sockets = DescriptorPair.sockets()
        withRealLoop { loop in
            let calls = Box<[String]>([])
            for (name, events) in [("reader", RunLoop.DescriptorEvents.readable), ("writer", .writable)] {
                addDescriptorSource(
                    RunLoop.DescriptorSource(sockets.first, for: events) { source, events in
                        calls.value.append("\(name) \(events)")
                        source.invalidate()
                    }, to: loop)
            }
            sockets.send("x")
            #expect(loop.runPlenty() == .finished)
            #expect(calls.value == ["reader [readable]", "writer [writable]"])
        }
    }

    @Test func `A ready descriptor of another mode does not end the sleep`() {
        let pipe = DescriptorPair.pipe()
        pipe.send("x")
        let calls = CountingCalls()
        withRealLoop(calls: calls) { loop in
            addDescriptorSource(
                RunLoop.DescriptorSource(pipe.first) { _, _ in Issue.record("called") }, to: loop, in: "other")
            loop.addSource()
            calls.takeCounts()
            #expect(loop.run(in: .default, for: .milliseconds(30)) == .timedOut)
            #expect(calls.waits == 1)
        }
    }

    @Test(arguments: ways) func `A regular file is always ready`(way: FineWait) {
        withRealLoop(fineWait: way) { loop in
            let file = open("/proc/self/exe", O_RDONLY | O_CLOEXEC)
            defer { close(file) }
            let told = Box<[RunLoop.DescriptorEvents]>([])
            let pipe = DescriptorPair.pipe()
            addDescriptorSource(
                RunLoop.DescriptorSource(file, for: [.readable, .writable]) { source, events in
                    told.value.append(events)
                    if told.value.count == 2 { source.events = .readable }
                    if told.value.count == 3 { source.events = [] }
                }, to: loop)
            let served = Box(false)
            addDescriptorSource(
                RunLoop.DescriptorSource(pipe.first) { source, _ in
                    served.value = true
                    source.invalidate()
                }, to: loop)
            pipe.send("x")
            #expect(loop.run(in: .default, for: .milliseconds(20)) == .timedOut)
            #expect(told.value == [[.readable, .writable], [.readable, .writable], .readable])
            #expect(served.value)
        }
    }

    @Test(.needsDescriptors(200)) func `Ready descriptors take turns and are served equally often`() {
        withRealLoop { loop in
            let pipes = (0..<100).map { _ in DescriptorPair.pipe() }
            let order = Box<[Int]>([])
            for (number, pipe) in pipes.enumerated() {
                addDescriptorSource(
                    RunLoop.DescriptorSource(pipe.first) { _, _ in order.value.append(number) }, to: loop)
            }
            for pipe in pipes { pipe.send("x") }
            for _ in 0..<200 { loop.runTurn() }
            #expect(order.value.count == 200)
            let counts = (0..<100).map { number in order.value.count { $0 == number } }
            #expect(counts == Array(repeating: 2, count: 100))
        }
    }

    @Test func `Runs with returnsAfterSource serve all ready descriptors equally often`() {
        withRealLoop { loop in
            let pipes = (0..<10).map { _ in DescriptorPair.pipe() }
            var counts = [Int](repeating: 0, count: pipes.count)
            for (number, pipe) in pipes.enumerated() {
                addDescriptorSource(RunLoop.DescriptorSource(pipe.first) { _, _ in counts[number] += 1 }, to: loop)
                pipe.send("x")
            }
            for _ in 0..<30 { #expect(loop.runPlenty(returnsAfterSource: true) == .handledSource) }
            #expect(counts == Array(repeating: 3, count: pipes.count))
        }
    }

    @Test func `Adding a descriptor that is not open throws EBADF`() {
        withRealLoop { loop in
            // A number that nothing in the process has.
            let source = RunLoop.DescriptorSource(1_000_000) { _, _ in }
            #expect(throws: RunLoop.SystemCallError(call: "epoll_ctl", code: EBADF)) {
                try loop.add(source, in: .default)
            }
            #expect(!loop.contains(source, in: .default))
            #expect(loop.runTurn() == .finished)
        }
    }

    @Test func `A descriptor added by another thread to a sleeping loop is served`() {
        let pipe = DescriptorPair.pipe()
        withRealLoop { loop in
            loop.addSource()
            let adder = TestThread {
                waitUntil { loop.isWaiting }
                pipe.send("x")
                addDescriptorSource(
                    RunLoop.DescriptorSource.sendable(pipe.first) { _, _ in loop.stop() }, to: loop)
            }
            #expect(loop.runPlenty() == .stopped)
            adder.join()
        }
    }

    @Test func `A second descriptor added by another thread to a sleeping loop is served`() {
        let quiet = DescriptorPair.pipe()
        let pipe = DescriptorPair.pipe()
        withRealLoop { loop in
            addDescriptorSource(RunLoop.DescriptorSource(quiet.first) { _, _ in }, to: loop)
            let adder = TestThread {
                waitUntil { loop.isWaiting }
                pipe.send("x")
                addDescriptorSource(
                    RunLoop.DescriptorSource.sendable(pipe.first) { _, _ in loop.stop() }, to: loop)
            }
            #expect(loop.runPlenty() == .stopped)
            adder.join()
        }
    }
}

/// Adds what must not be refused.
func addDescriptorSource(
    _ source: RunLoop.DescriptorSource, to loop: RunLoop, in mode: RunLoop.Mode = .default,
    sourceLocation: SourceLocation = #_sourceLocation
) {
    do {
        try loop.add(source, in: mode)
    } catch {
        Issue.record("\(source) was refused: \(error)", sourceLocation: sourceLocation)
    }
}
