// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

public import RunLoops

/// Makes a run loop a guest of a GLib main context: the loop becomes a source of the context, like the sources of GTK.
///
/// While the context runs (`g_main_loop_run`, `g_application_run`), the loop's timers, sources, blocks and descriptor
/// sources run on the context's thread. With the main loop, `DispatchQueue.main` and `@MainActor` run there too. The
/// loop is not polled at intervals: the context waits for the loop's ``/RunLoops/RunLoop/pollDescriptor``. A block that
/// the thread itself posts without a wake-up runs before the context goes to sleep. So do the loop's observers of
/// ``/RunLoops/RunLoop/Activities/beforeWaiting``, after all other sources of the context that are ready.
///
/// The loop leaves the context when this object is released or invalidated.
///
/// Thread safety: made on the loop's thread, which must run the context; running the context on another thread traps.
public final class GLibGuest {
    /// Runs the loop when its descriptor is readable, and when the thread has posted work without a wake-up.
    private let source: GLibFunctions.Object
    /// Runs the loop once more before the context waits, when no other source is ready.
    ///
    /// Observers of `beforeWaiting` are then called after every callback of GLib that has run.
    private let last: GLibFunctions.Object

    /// Adds the current thread's loop to a context.
    ///
    /// - Parameters:
    ///   - context: A `GMainContext`, which is retained while the loop is in it; `nil` for the default context.
    ///   - mode: The mode of the loop that the context runs.
    ///   - priority: GLib's priority: sources with a lower number are dispatched first. 0 is the default, and the
    ///     priority of input events in GTK.
    /// - Precondition: GLib 2.36 or later is in the process.
    /// - Throws: The error with which the system refused to make the loop a guest.
    public init(
        context: OpaquePointer? = nil, in mode: RunLoop.Mode = .default, priority: CInt = 0
    ) throws(RunLoop.SystemCallError) {
        let loop = RunLoop.current
        let descriptor = try loop.pollDescriptor
        source = GuestSource.make(loop: loop, mode: mode, descriptor: descriptor)
        last = GuestSource.make(loop: loop, mode: mode, descriptor: nil)
        let glib = GLibFunctions.shared
        for (source, priority, name) in [(source, priority, "RunLoops"), (last, CInt.max, "RunLoops, before waiting")] {
            glib.sourceSetPriority(source, priority)
            // A callout of the loop may run the context again, and with it the loop.
            glib.sourceSetCanRecurse(source, 1)
            glib.sourceSetName(source, name)
            _ = glib.sourceAttach(source, context)
        }
    }

    deinit {
        invalidate()
        GLibFunctions.shared.sourceUnref(source)
        GLibFunctions.shared.sourceUnref(last)
    }

    /// Removes the loop from the context; a second call does nothing.
    ///
    /// Thread safety: any thread may call this, also inside the loop's own callouts.
    public func invalidate() {
        GLibFunctions.shared.sourceDestroy(source)
        GLibFunctions.shared.sourceDestroy(last)
    }
}

/// Makes a `GSource` with this package's state after GLib's fields.
private enum GuestSource {
    private final class State {
        let loop: RunLoop
        let mode: RunLoop.Mode
        var tag: GLibFunctions.Object?

        init(loop: RunLoop, mode: RunLoop.Mode) {
            self.loop = loop
            self.mode = mode
        }
    }

    /// Without a descriptor, the source is ready when the loop has to run before the context waits.
    static func make(loop: RunLoop, mode: RunLoop.Mode, descriptor: CInt?) -> GLibFunctions.Object {
        let size = sourceSize + MemoryLayout<UnsafeRawPointer>.size
        let glib = GLibFunctions.shared
        guard let source = glib.sourceNew(Functions.shared.pointer, CUnsignedInt(size)) else {
            // GLib ends the process when it is out of memory.
            preconditionFailure("g_source_new returned nothing")
        }
        let state = State(loop: loop, mode: mode)
        // Released in finalize.
        source.storeBytes(
            of: Unmanaged.passRetained(state).toOpaque(), toByteOffset: sourceSize, as: UnsafeMutableRawPointer.self)
        state.tag = descriptor.flatMap { glib.sourceAddDescriptor(source, $0, inputCondition) }
        return source
    }

    private static func reference(_ source: GLibFunctions.Object) -> Unmanaged<State> {
        // SAFETY: the functions are called with sources that make() has made, and until finalize.
        Unmanaged.fromOpaque(source.load(fromByteOffset: sourceSize, as: UnsafeRawPointer.self))
    }

    /// The table of functions that GLib keeps a pointer to.
    private struct Functions: @unchecked Sendable {
        // SAFETY: written here, once, and only read by GLib.
        static let shared = Functions()

        let pointer: UnsafeMutablePointer<SourceFunctions>

        private init() {
            pointer = .allocate(capacity: 1)
            pointer.initialize(
                to: SourceFunctions(
                    prepare: { source, timeout in
                        timeout?.pointee = -1
                        let state = reference(source).takeUnretainedValue()
                        if state.tag == nil { return state.loop.prepareToPoll(in: state.mode) ? 1 : 0 }
                        return state.loop.hasUnseenWork(in: state.mode) ? 1 : 0
                    },
                    check: { source in
                        let state = reference(source).takeUnretainedValue()
                        if state.tag == nil { return 0 }
                        return GLibFunctions.shared.sourceQueryDescriptor(source, state.tag) == 0 ? 0 : 1
                    },
                    dispatch: { source, _, _ in
                        let state = reference(source).takeUnretainedValue()
                        state.loop.runReady(in: state.mode)
                        return 1
                    },
                    finalize: { source in reference(source).release() }))
        }
    }
}
