// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

#if GLib
import CGLib
import Glibc
import RunLoops
import RunLoopsGLib
import RunLoopsTestSupport
import Testing

/// A GLib main context dispatched by our loop.
@Suite(.limited)
struct ContextSourceTests {
    @Test func `Timeouts, idle callbacks, watches and invocations of the context are called`() throws {
        try withContext { context, loop in
            let (notes, pipe) = (Notes(), makePipe())
            context.after(.milliseconds(5)) { notes.note("timeout") }
            context.idle { notes.note("idle") }
            context.watch(pipe.read) {
                notes.note(readText(pipe.read))
                return true
            }
            let thread = TestThread {
                context.invoke { notes.note("invoked") }
                send("watched", into: pipe.write)
            }
            loop.run(until: { notes.lines.count == 4 })
            thread.join()
            #expect(Set(notes.lines) == ["timeout", "idle", "invoked", "watched"])
        }
    }

    @Test func `A timeout is not early and causes at most one extra wake-up`() throws {
        try withContext { context, loop in
            let notes = Notes()
            let wakes = loop.countWakes()
            let due = RunLoop.Instant.now.advanced(by: .milliseconds(100))
            context.after(.milliseconds(100)) { notes.note("timeout") }
            loop.run(until: { notes.lines.count == 1 })
            #expect(RunLoop.Instant.now >= due)
            // Its own, and one more where GLib's clock, in whole milliseconds, is not there yet.
            #expect(wakes.count <= 2)
        }
    }

    @Test func `An idle context causes no periodic wake-ups`() throws {
        try withContext { context, loop in
            let pipe = makePipe()
            context.watch(pipe.read) { true }
            context.after(.seconds(1000)) {}
            // The loop looks once and sleeps from then on.
            loop.run(in: .default, for: .milliseconds(10))
            let wakes = loop.countWakes()
            #expect(loop.run(in: .default, for: idleTime) == .timedOut)
            #expect(wakes.count == 1, "the end of the run")
        }
    }

    @Test func `Invocations from another thread run in order`() throws {
        try withContext { context, loop in
            let notes = Notes()
            let thread = TestThread {
                for number in 0..<1000 {
                    context.invoke { notes.note("\(number)") }
                    if number % 100 == 0 { usleep(100) }
                }
            }
            loop.run(until: { notes.lines.count == 1000 })
            thread.join()
            #expect(notes.lines == (0..<1000).map(String.init))
        }
    }

    @Test func `A GLib source attached in a callout of the loop is found before the sleep`() throws {
        try withContext { context, loop in
            let notes = Notes()
            loop.add(RunLoop.Timer(.after(.zero)) { _ in context.idle { notes.note("idle") } }, in: .default)
            loop.performLocally {
                context.after(.milliseconds(1)) { notes.note("timeout") }
            }
            loop.run(until: { notes.lines.count == 2 })
            #expect(Set(notes.lines) == ["idle", "timeout"])
        }
    }

    @Test func `A watched descriptor number that is closed and reused is still watched`() throws {
        try withContext { context, loop in
            let notes = Notes()
            let first = makePipe()
            context.watch(first.read) {
                _ = readText(first.read)
                // GLib's last look had this number, and so has the next: closed and taken in one step.
                let second = makePipe()
                dup2(second.read, first.read)
                context.watch(first.read) {
                    notes.note(readText(first.read))
                    return false
                }
                context.after(.milliseconds(5)) { send("second", into: second.write) }
                return false
            }
            send("first", into: first.write)
            loop.run(until: { notes.lines.count == 1 })
            #expect(notes.lines == ["second"])
        }
    }

    @Test func `A watched regular file is ready at once`() throws {
        try withContext { context, loop in
            let notes = Notes()
            let file = open("/proc/self/exe", O_RDONLY | O_CLOEXEC)
            context.watch(file) {
                notes.note("ready")
                return false
            }
            loop.run(until: { notes.lines.count == 1 })
            #expect(loop.run(in: .default, for: .milliseconds(20)) == .timedOut)
            #expect(notes.lines == ["ready"])
            close(file)
        }
    }

    @Test func `A GLib callback may run the loop, which in turn runs the GLib context`() throws {
        try withContext { context, loop in
            let notes = Notes()
            let box = Unowned(loop)
            context.after(.milliseconds(1)) {
                context.after(.milliseconds(1)) { notes.note("inner") }
                box.loop.run(until: { notes.lines == ["inner"] })
                notes.note("outer")
            }
            loop.run(until: { notes.lines.count == 2 })
            #expect(notes.lines == ["inner", "outer"])
        }
    }

    @Test func `A context source's thread owns the context until the source is invalidated`() throws {
        let context = Context()
        let notes = Notes()
        TestThread {
            do {
                let source = try GLibContextSource(context: context.pointer)
                let other = TestThread {
                    do {
                        _ = try GLibContextSource(context: context.pointer)
                    } catch {
                        notes.note("\(error)")
                    }
                }
                other.join()
                source.invalidate()
                TestThread {
                    if let again = try? GLibContextSource(context: context.pointer) {
                        notes.note("free")
                        again.invalidate()
                    }
                }.join()
            } catch {
                notes.note("unexpected: \(error)")
            }
        }.join()
        #expect(notes.lines == ["ownedByAnotherThread", "free"])
    }
}

/// A loop that a Sendable closure of the same thread uses.
private final class Unowned: @unchecked Sendable {
    unowned let loop: RunLoop
    init(_ loop: RunLoop) { self.loop = loop }
}

/// Runs `body` on a thread of its own, whose loop dispatches a context.
private func withContext(_ body: @escaping @Sendable (Context, RunLoop) throws -> Void) throws {
    let failures = Notes()
    TestThread {
        let context = Context()
        do {
            let source = try GLibContextSource(context: context.pointer)
            try body(context, RunLoop.current)
            source.invalidate()
        } catch {
            failures.note("\(error)")
        }
    }.join()
    #expect(failures.lines == [])
}

extension RunLoop {
    /// Runs until `condition` holds.
    func run(until condition: () -> Bool) {
        let end = RunLoop.Instant.now.advanced(by: plenty)
        while !condition(), RunLoop.Instant.now < end {
            run(in: .default, until: end, returnsAfterSource: true)
        }
        #expect(condition())
    }

    final class Wakes { var count = 0 }

    /// Counts how often the loop has slept.
    func countWakes() -> Wakes {
        let wakes = Wakes()
        add(RunLoop.Observer(.afterWaiting) { _, _ in wakes.count += 1 }, in: .default)
        return wakes
    }
}
#endif
