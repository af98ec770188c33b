// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

#if GLib
import CGLib
import RunLoops
import RunLoopsGLib
import RunLoopsTestSupport
import Testing

/// A source of GLib's that holds something from its preparation to its check, as GDK's source for Wayland holds the right
/// to read.
@Suite(.limited)
struct ContextCheckTests {
    /// Of the thread that runs the test, which is the only one to use it.
    private enum Held {
        nonisolated(unsafe) static var now = false
        nonisolated(unsafe) static var preparations = 0
    }

    @Test func `The check function of a GLib source is called before any callout of the loop`() {
        let notes = Notes()
        TestThread {
            let context = Context()
            let functions = UnsafeMutablePointer<GSourceFuncs>.allocate(capacity: 1)
            functions.initialize(to: GSourceFuncs())
            functions.pointee.prepare = { _, timeout in
                timeout?.pointee = -1
                Held.now = true
                Held.preparations += 1
                return 0
            }
            functions.pointee.check = { _ in
                Held.now = false
                return 0
            }
            functions.pointee.dispatch = { _, _, _ in 1 }
            let holder = g_source_new(functions, guint(MemoryLayout<GSource>.size))
            g_source_attach(holder, context.pointer)
            do {
                let source = try GLibContextSource(context: context.pointer)
                let loop = RunLoop.current
                var calls = 0
                let timer = RunLoop.Timer(.every(.milliseconds(1))) { _ in
                    calls += 1
                    if Held.now { notes.note("held in callout \(calls)") }
                    if calls == 20 { loop.stop() }
                }
                loop.add(timer, in: .default)
                loop.run(in: .default, for: plenty)
                if calls != 20 || Held.preparations < 20 { notes.note("\(calls) of 20, \(Held.preparations)") }
                source.invalidate()
            } catch {
                notes.note("unexpected: \(error)")
            }
            g_source_destroy(holder)
            g_source_unref(holder)
            functions.deallocate()
        }.join()
        #expect(notes.lines == [])
    }
}
#endif
