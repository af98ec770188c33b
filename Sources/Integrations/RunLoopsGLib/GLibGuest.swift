// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

#if GLib
internal import CGLib
public import RunLoops

/// Makes a run loop a guest of a GLib main context: the loop becomes a source of the context, like the sources of GTK.
///
/// While the context runs (`g_main_loop_run`, `g_application_run`), the loop's timers, sources, blocks and descriptor
/// sources run on the context's thread. With the main loop, `DispatchQueue.main` and `@MainActor` run there too. The
/// loop is not polled at intervals: the context waits for the loop's ``/RunLoops/RunLoop/pollDescriptor``. A block that
/// the thread itself posts without a wake-up runs before the context goes to sleep.
///
/// The loop leaves the context when this object is released or invalidated.
///
/// Thread safety: made on the loop's thread, which must run the context; running the context on another thread traps.
public final class GLibGuest {
    private let source: UnsafeMutablePointer<GSource>

    /// Adds the current thread's loop to a context.
    ///
    /// - Parameters:
    ///   - context: A `GMainContext`, which is retained while the loop is in it; `nil` for the default context.
    ///   - mode: The mode of the loop that the context runs.
    ///   - priority: GLib's priority: sources with a lower number are dispatched first. 0 is the default, and the
    ///     priority of input events in GTK.
    /// - Throws: The error with which the system refused to make the loop a guest.
    public init(
        context: OpaquePointer? = nil, mode: RunLoop.Mode = .default, priority: CInt = 0
    ) throws(RunLoop.SystemCallError) {
        let loop = RunLoop.current
        source = GuestSource.make(loop: loop, descriptor: try loop.pollDescriptor, mode: mode)
        g_source_set_priority(source, priority)
        // A callout of the loop may run the context again, and with it the loop.
        g_source_set_can_recurse(source, 1)
        g_source_set_name(source, "RunLoops")
        g_source_attach(source, context)
    }

    deinit {
        invalidate()
        g_source_unref(source)
    }

    /// Removes the loop from the context; a second call does nothing.
    ///
    /// Thread safety: any thread may call this, also inside the loop's own callouts.
    public func invalidate() { g_source_destroy(source) }
}

/// Makes a `GSource` with this package's state after GLib's fields.
private enum GuestSource {
    private final class State {
        let loop: RunLoop
        let mode: RunLoop.Mode
        var tag: gpointer?

        init(loop: RunLoop, mode: RunLoop.Mode) {
            self.loop = loop
            self.mode = mode
        }
    }

    static func make(loop: RunLoop, descriptor: CInt, mode: RunLoop.Mode) -> UnsafeMutablePointer<GSource> {
        let size = offset + MemoryLayout<UnsafeRawPointer>.size
        guard let source = g_source_new(Functions.shared.pointer, guint(size)) else {
            // GLib ends the process when it is out of memory.
            preconditionFailure("g_source_new returned nothing")
        }
        let state = State(loop: loop, mode: mode)
        // Given back in finalize.
        UnsafeMutableRawPointer(source).storeBytes(
            of: Unmanaged.passRetained(state).toOpaque(), toByteOffset: offset, as: UnsafeMutableRawPointer.self)
        state.tag = g_source_add_unix_fd(source, descriptor, G_IO_IN)
        return source
    }

    /// The offset of this package's state in the memory of a `GSource`.
    private static var offset: Int { MemoryLayout<GSource>.stride }

    private static func reference(_ source: UnsafeMutablePointer<GSource>?) -> Unmanaged<State> {
        // SAFETY: the functions are called with sources that make() has made, and until finalize.
        Unmanaged.fromOpaque(
            UnsafeRawPointer(source.unsafelyUnwrapped).load(fromByteOffset: offset, as: UnsafeRawPointer.self))
    }

    /// The table of functions that GLib keeps a pointer to.
    private struct Functions: @unchecked Sendable {
        // SAFETY: written here, once, and only read by GLib.
        static let shared = Functions()

        let pointer: UnsafeMutablePointer<GSourceFuncs>

        private init() {
            pointer = .allocate(capacity: 1)
            pointer.initialize(to: GSourceFuncs())
            pointer.pointee.prepare = { source, timeout in
                timeout?.pointee = -1
                let state = reference(source).takeUnretainedValue()
                return state.loop.prepareToPoll(in: state.mode) ? 1 : 0
            }
            pointer.pointee.check = { source in
                let state = reference(source).takeUnretainedValue()
                return g_source_query_unix_fd(source, state.tag).rawValue == 0 ? 0 : 1
            }
            pointer.pointee.dispatch = { source, _, _ in
                let state = reference(source).takeUnretainedValue()
                state.loop.runReady(in: state.mode)
                return 1
            }
            pointer.pointee.finalize = { source in reference(source).release() }
        }
    }
}
#else
public import RunLoops

// With the members of the real one: without them type checking would fail first, with an error that does not name the
// trait.
/// A run loop inside a GLib main context; with the trait `GLib` alone.
@available(
    *, unavailable,
    message: "Enable the trait GLib of swift-run-loops: .package(url: …, traits: [\"GLib\"])"
)
public final class GLibGuest {
    /// Unavailable without the package trait `GLib`.
    public init(
        context: OpaquePointer? = nil, mode: RunLoop.Mode = .default, priority: CInt = 0
    ) throws(RunLoop.SystemCallError) { isNotCalled() }

    /// Unavailable without the package trait `GLib`.
    public func invalidate() { isNotCalled() }
}

private func isNotCalled() -> Never { fatalError("The compiler refuses each call of this.") }
#endif
