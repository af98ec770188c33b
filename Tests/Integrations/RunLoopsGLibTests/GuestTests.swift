// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

#if GLib
import CGLib
import Glibc
import RunLoops
import RunLoopsTestSupport
import Testing

@testable import RunLoopsGLib

/// Our loop under `g_main_loop_run`.
@Suite(.limited)
struct GuestTests {
    @Test func `The sizes of this library's structures equal those in GLib's headers`() {
        #expect(sourceSize == MemoryLayout<GSource>.stride)
        #expect(MemoryLayout<SourceFunctions>.size == MemoryLayout<GSourceFuncs>.size)
        #expect(MemoryLayout<pollfd>.size == MemoryLayout<GPollFD>.size)
        #expect(inputCondition == G_IO_IN.rawValue)
    }

    @Test func `Observers of beforeWaiting are called after a callback of GLib, before GLib waits`() throws {
        try withGuest { context, loop in
            let notes = Notes()
            let observer = RunLoop.Observer.sendable(.beforeWaiting) { _, _ in
                notes.note("about to wait")
                if notes.lines.contains("callback") { context.quit() }
            }
            loop.add(observer, in: .default)
            context.idle { notes.note("callback") }
            #expect(context.run() == 0)
            #expect(notes.lines.last == "about to wait")
        }
    }

    @Test func `Timers, sources, descriptors and blocks of the loop run under GLib`() throws {
        try withGuest { context, loop in
            let (notes, pipe) = (Notes(), makePipe())
            let quitIfDone: @Sendable (String) -> Void = { name in
                notes.note(name)
                if notes.lines.count == 5 { context.quit() }
            }
            let source = RunLoop.Source.sendable { _ in quitIfDone("source") }
            let descriptorSource = RunLoop.DescriptorSource.sendable(pipe.read) { source, _ in
                quitIfDone(readText(source.descriptor))
            }
            loop.add(source, in: .default)
            try loop.add(descriptorSource, in: .default)
            loop.add(.sendable(.after(.milliseconds(5))) { _ in quitIfDone("timer") }, in: .default)
            let thread = TestThread {
                loop.perform { quitIfDone("block") }
                source.signal()
                loop.wakeUp()
                send("descriptor", into: pipe.write)
                loop.add(
                    .sendable(.after(.milliseconds(2))) { _ in quitIfDone("timer of another thread") }, in: .default)
            }
            _ = context.run()
            thread.join()
            #expect(Set(notes.lines) == ["source", "descriptor", "timer", "block", "timer of another thread"])
        }
    }

    @Test func `An idle loop causes no periodic wake-ups of GLib`() throws {
        try withGuest { context, loop in
            let pipe = makePipe()
            try loop.add(RunLoop.DescriptorSource(pipe.read) { _, _ in }, in: .default)
            loop.add(RunLoop.Timer(.after(.seconds(1000))) { _ in }, in: .default)
            // GLib wakes itself once for a descriptor that is added.
            _ = context.run(forAtMost: .zero)
            #expect(
                context.run(forAtMost: idleTime) <= 2,
                "one sleep until the end, and GLib's own wake-up by the quit before")
        }
    }

    @Test func `A timer costs one sleep of GLib for each fire`() throws {
        try withGuest { context, loop in
            let notes = Notes()
            loop.add(
                .sendable(.every(.milliseconds(10))) { _ in
                    notes.note("fire")
                    if notes.lines.count == 10 { context.quit() }
                }, in: .default)
            // Fires whose date passed while the machine was busy need no sleep of their own; GLib wakes itself once for
            // a descriptor that is added.
            #expect(context.run() <= 11)
        }
    }

    @Test func `A block posted by a GLib callback runs without a wake-up`() throws {
        try withGuest { context, loop in
            let notes = Notes()
            context.idle {
                loop.perform(wake: false) {
                    notes.note("block")
                    context.quit()
                }
            }
            _ = context.run()
            #expect(notes.lines == ["block"])
        }
    }

    @Test func `A callout of the loop may run the context, which runs the loop`() throws {
        try withGuest { context, loop in
            let notes = Notes()
            loop.add(
                .sendable(.after(.zero)) { _ in
                    let thread = TestThread { loop.perform { notes.note("block") } }
                    while notes.lines.isEmpty { g_main_context_iteration(context.pointer, 1) }
                    thread.join()
                    notes.note("timer")
                    context.quit()
                }, in: .default)
            _ = context.run()
            #expect(notes.lines == ["block", "timer"])
        }
    }

    @Test func `GLib sources run even if the loop is never idle`() throws {
        try withGuest { context, loop in
            let notes = Notes()
            // Ours is never idle.
            let source = RunLoop.Source.sendable { source in source.signal() }
            loop.add(source, in: .default)
            source.signal()
            loop.wakeUp()
            context.after(.milliseconds(5)) {
                notes.note("timeout")
                context.quit()
            }
            _ = context.run()
            #expect(notes.lines == ["timeout"])
        }
    }

    @Test func `An invalidated guest is removed from the context`() throws {
        try withGuest(keepsGuest: false) { context, loop in
            let notes = Notes()
            loop.perform { notes.note("block") }
            _ = context.run(forAtMost: .milliseconds(20))
            #expect(notes.lines == [])
        }
    }
}

/// Runs `body` on a thread of its own, whose loop is in a context.
private func withGuest(
    keepsGuest: Bool = true, _ body: @escaping @Sendable (Context, RunLoop) throws -> Void
) throws {
    let failures = Notes()
    TestThread {
        let context = Context()
        g_main_context_push_thread_default(context.pointer)
        do {
            let guest = try GLibGuest(context: context.pointer)
            if !keepsGuest { guest.invalidate() }
            try body(context, RunLoop.current)
            guest.invalidate()
        } catch {
            failures.note("\(error)")
        }
        g_main_context_pop_thread_default(context.pointer)
    }.join()
    #expect(failures.lines == [])
}
#endif
