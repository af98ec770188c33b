// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import Glibc
import RunLoops
import RunLoopsEvents
import RunLoopsTestSupport
import Testing

/// A library with an event loop of its own inside ours.
@Suite(.ownThread, .leavesNothing) struct PollSourceTests {
    /// What a library would be: descriptors to wait for, a time, and what it was called with.
    private final class Library {
        var descriptors: [pollfd] = []
        var limit: Duration?
        var preparations = 0
        /// The descriptors that were ready, for each dispatch.
        var dispatches: [[CInt]] = []
        var whenDispatched: ([pollfd]) -> Void = { _ in }

        func watch(_ descriptor: CInt, _ events: CInt = CInt(POLLIN)) {
            descriptors.append(pollfd(fd: descriptor, events: Int16(events), revents: 0))
        }

        func enterLoop(in mode: RunLoop.Mode = .default) throws -> PollSource {
            try PollSource(in: mode) { wait in
                self.preparations += 1
                wait.descriptors = self.descriptors
                wait.limit = self.limit
            } dispatch: { polled in
                self.dispatches.append(polled.filter { $0.revents != 0 }.map(\.fd))
                self.whenDispatched(polled)
            }
        }
    }

    @Test func `A poll source dispatches with the events for which its descriptors are ready`() throws {
        try withLoop { loop in
            let (first, second, library) = (DescriptorPair.pipe(), DescriptorPair.pipe(), Library())
            defer { library.whenDispatched = { _ in } }
            library.watch(first.first)
            library.watch(second.first)
            library.watch(-1)
            let source = try library.enterLoop()
            let seen = Box<[Int16]>([])
            library.whenDispatched = { polled in
                seen.value = polled.map(\.revents)
                readText(second.first)
                loop.stop()
            }
            let thread = TestThread { second.send() }
            #expect(loop.run(in: .default, for: .seconds(600)) == .stopped)
            thread.join()
            #expect(library.dispatches == [[second.first]])
            #expect(seen.value == [0, Int16(POLLIN), 0])
            source.invalidate()
        }
    }

    @Test func `A poll source dispatches at its time limit, not earlier, and causes no other wake-up`() throws {
        try withLoop { loop in
            let library = Library()
            defer { library.whenDispatched = { _ in } }
            library.limit = .milliseconds(50)
            let source = try library.enterLoop()
            library.whenDispatched = { _ in loop.stop() }
            let wakes = Box(0)
            loop.add(RunLoop.Observer(.afterWaiting) { _, _ in wakes.value += 1 }, in: .default)
            let start = RunLoop.Instant.now
            #expect(loop.run(in: .default, for: .seconds(600)) == .stopped)
            #expect(RunLoop.Instant.now - start >= .milliseconds(50))
            #expect(wakes.value == 1)
            library.limit = nil
            // From here on nothing is due.
            loop.run(in: .default, for: .milliseconds(100))
            #expect(library.dispatches == [[]])
            #expect(wakes.value == 2, "the end of the run")
            source.invalidate()
        }
    }

    @Test func `With a time limit of zero a poll source dispatches in each turn`() throws {
        try withLoop { loop in
            let library = Library()
            defer { library.whenDispatched = { _ in } }
            library.limit = .zero
            let source = try library.enterLoop()
            library.whenDispatched = { _ in if library.dispatches.count == 100 { loop.stop() } }
            #expect(loop.run(in: .default, for: .seconds(600)) == .stopped)
            #expect(library.dispatches.count == 100)
            #expect(library.preparations <= 101)
            source.invalidate()
        }
    }

    @Test func `Polling a loop dispatches a ready poll source`() throws {
        try withLoop { loop in
            let (pipe, library) = (DescriptorPair.pipe(), Library())
            defer { library.whenDispatched = { _ in } }
            library.watch(pipe.first)
            let source = try library.enterLoop()
            library.whenDispatched = { _ in loop.stop() }
            pipe.send()
            for _ in 0..<5 where library.dispatches.isEmpty { loop.runTurn() }
            #expect(library.dispatches == [[pipe.first]])
            source.invalidate()
        }
    }

    @Test func `A polled loop prepares a poll source in each turn, and a sleeping loop once for each sleep`() throws {
        try withLoop { loop in
            let (pipe, library) = (DescriptorPair.pipe(), Library())
            defer { library.whenDispatched = { _ in } }
            library.watch(pipe.first)
            let source = try library.enterLoop()
            for _ in 0..<3 { loop.runTurn() }
            #expect(library.preparations == 3)
            // What a library has read already does not show on its descriptor.
            library.limit = .zero
            loop.runTurn()
            #expect(library.dispatches == [[]])
            library.limit = nil
            library.preparations = 0
            let sleeps = Box(0)
            let observer = RunLoop.Observer(.beforeWaiting) { _, _ in sleeps.value += 1 }
            let timer = RunLoop.Timer(.every(.milliseconds(1))) { _ in if sleeps.value == 20 { loop.stop() } }
            loop.add(observer, in: .default)
            loop.add(timer, in: .default)
            #expect(loop.run(in: .default, for: .seconds(600)) == .stopped)
            // Once more at the beginning.
            #expect(library.preparations == sleeps.value + 1)
            source.invalidate()
            withExtendedLifetime(pipe) {}
        }
    }

    @Test func `Each preparation may change the descriptors, even to another file under the same number`() throws {
        try withLoop { loop in
            let (old, new, library) = (DescriptorPair.pipe(), DescriptorPair.pipe(), Library())
            defer { library.whenDispatched = { _ in } }
            let number = duplicateFarAway(old.first)
            defer { close(number) }
            library.watch(number)
            let source = try library.enterLoop()
            library.whenDispatched = { _ in loop.stop() }
            loop.run(in: .default, for: .milliseconds(1))
            #expect(dup2(new.first, number) == number)
            // The former file is still open, and epoll would go on to watch it.
            old.send()
            #expect(loop.run(in: .default, for: .milliseconds(20)) == .timedOut)
            new.send()
            #expect(loop.run(in: .default, for: .seconds(600)) == .stopped)
            #expect(library.dispatches == [[number]])
            library.descriptors = []
            library.dispatches = []
            library.whenDispatched = { _ in }
            #expect(loop.run(in: .default, for: .milliseconds(20)) == .timedOut)
            // What was found before may be dispatched, with nothing ready any more.
            #expect(library.dispatches.count <= 1 && library.dispatches.allSatisfy(\.isEmpty))
            source.invalidate()
        }
    }

    @Test func `A regular file is readable at once, and an invalid descriptor is reported as POLLNVAL`() throws {
        try withLoop { loop in
            let (file, library) = (open("/proc/self/exe", O_RDONLY | O_CLOEXEC), Library())
            defer { library.whenDispatched = { _ in } }
            defer { close(file) }
            library.watch(file)
            let source = try library.enterLoop()
            let seen = Box<[Int16]>([])
            library.whenDispatched = { polled in
                seen.value = polled.map(\.revents)
                loop.stop()
            }
            #expect(loop.run(in: .default, for: .seconds(600)) == .stopped)
            #expect(seen.value == [Int16(POLLIN)])
            library.descriptors = []
            library.watch(CInt.max - 1)
            #expect(loop.run(in: .default, for: .seconds(600)) == .stopped)
            #expect(seen.value == [Int16(POLLNVAL)])
            source.invalidate()
        }
    }

    @Test func `A dispatch closure may run the loop, which calls it again, and may invalidate the source`() throws {
        try withLoop { loop in
            let (pipe, library) = (DescriptorPair.pipe(), Library())
            defer { library.whenDispatched = { _ in } }
            library.watch(pipe.first)
            let source = try library.enterLoop()
            library.whenDispatched = { _ in
                guard library.dispatches.count < 3 else {
                    source.invalidate()
                    return
                }
                // What is ready stays ready.
                while library.dispatches.count < 3 { loop.run(in: .default, for: .milliseconds(1)) }
            }
            pipe.send()
            while library.dispatches.count < 3 { loop.run(in: .default, for: .milliseconds(1)) }
            #expect(!source.isValid)
            // Nothing is left in the loop.
            #expect(loop.isEmpty(in: .default))
            #expect(loop.run(in: .default, for: .seconds(600)) == .finished)
        }
    }

    @Test func `A preparation that invalidates its source is the last call to the source`() throws {
        try withLoop { loop in
            let source = Box<PollSource?>(nil)
            let calls = Box(0)
            source.value = try PollSource { wait in
                calls.value += 1
                wait.limit = .zero
                source.value?.invalidate()
            } dispatch: { _ in
                calls.value += 100
            }
            loop.run(in: .default, for: .milliseconds(10))
            #expect(calls.value == 1)
            #expect(loop.isEmpty(in: .default))
            source.value = nil
        }
    }

    @Test func `A released poll source is removed from the loop`() throws {
        try withLoop { loop in
            let library = Library()
            defer { library.whenDispatched = { _ in } }
            var source: PollSource? = try library.enterLoop(in: .common)
            #expect(!loop.isEmpty(in: .default))
            #expect(source?.isValid == true)
            source = nil
            #expect(loop.isEmpty(in: .default))
        }
    }

    @Test func `wakeUp makes a poll source prepare again and find work that another thread has added`() throws {
        try withLoop { loop in
            let (pipe, library) = (DescriptorPair.pipe(), Library())
            defer { library.whenDispatched = { _ in } }
            let source = try library.enterLoop()
            let isThere = Locked(false)
            let dispatched = try PollSource { wait in
                if isThere.copy { wait.limit = .zero }
            } dispatch: { _ in
                loop.stop()
            }
            let thread = TestThread {
                waitUntil { loop.isWaiting }
                isThere.withLock { $0 = true }
                loop.wakeUp()
            }
            #expect(loop.run(in: .default, for: .seconds(600)) == .stopped)
            thread.join()
            #expect(library.dispatches.isEmpty)
            for one in [source, dispatched] { one.invalidate() }
            withExtendedLifetime(pipe) {}
        }
    }

    @Test func `Making a poll source without free descriptors throws EMFILE and leaks no descriptor`() async {
        await #expect(processExitsWith: .success) {
            await letDispatchOpenItsTimers()
            try withLoop { loop in
                loop.runTurn()
                let before = countOpenDescriptors()
                for left in 0..<3 {
                    let scarcity = Scarcity(left: left)
                    let made = Result {
                        try PollSource { _ in
                        } dispatch: { _ in
                        }
                    }
                    scarcity.end()
                    if case .failure(let error) = made {
                        #expect((error as? RunLoop.SystemCallError)?.code == EMFILE)
                        #expect(loop.isEmpty(in: .default))
                    } else {
                        #expect(left > 0)
                    }
                }
                // The loop's own descriptors stay for its next source.
                let kept = try PollSource { _ in
                } dispatch: { _ in
                }
                kept.invalidate()
                #expect(countOpenDescriptors() <= before + 3)
            }
        }
    }
}
