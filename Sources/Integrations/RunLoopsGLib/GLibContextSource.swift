// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

#if GLib
internal import CGLib
internal import Glibc
public import RunLoops
internal import RunLoopsEvents

/// Makes a GLib main context a source of the current thread's run loop: the loop dispatches the sources that are
/// attached to the context.
///
/// A ``/RunLoopsEvents/PollSource`` prepares, queries, checks and dispatches the context. GLib's priorities apply among
/// the context's own sources. When another thread attaches a source or calls `g_main_context_invoke`, the context's own
/// descriptor wakes the loop. The loop never polls the context at intervals.
///
/// The loop's thread owns the context (`g_main_context_acquire`) as long as this object lives: other threads can attach
/// sources and invoke functions, but cannot run the context. The loop's thread itself may run the context, also in its
/// own callbacks.
///
/// The context leaves the loop when this object is released or invalidated.
///
/// Thread safety: all members belong to the loop's thread.
public final class GLibContextSource {
    private let context: OpaquePointer
    private var priority: gint = 0
    private var polled: PollSource?

    /// Adds a context to a mode of the current thread's loop.
    ///
    /// - Parameters:
    ///   - context: A `GMainContext`, which this object retains; `nil` for the default context.
    ///   - mode: The mode in which the context is dispatched; `.common` for all common modes.
    /// - Throws: ``GLibContextError``: another thread owns the context, or the system is out of descriptors.
    public init(context: OpaquePointer? = nil, mode: RunLoop.Mode = .default) throws(GLibContextError) {
        guard let context = context ?? g_main_context_default() else {
            preconditionFailure("g_main_context_default returned nothing")
        }
        guard g_main_context_acquire(context) != 0 else { throw .ownedByAnotherThread }
        self.context = g_main_context_ref(context)
        do throws(RunLoop.SystemCallError) {
            polled = try PollSource(in: mode, label: "GLib") { [weak self] wait in
                self?.prepare(&wait)
            } check: { [weak self] descriptors in
                self?.check(descriptors) ?? false
            } dispatch: { [weak self] _ in
                self?.dispatch()
            }
        } catch {
            giveUp()
            throw .systemCall(error)
        }
    }

    deinit { invalidate() }

    /// Removes the context from the loop, and releases it; a second call does nothing.
    public func invalidate() {
        guard let polled else { return }
        self.polled = nil
        polled.invalidate()
        giveUp()
    }

    private func giveUp() {
        g_main_context_release(context)
        g_main_context_unref(context)
    }

    // MARK: The context

    /// Asks the context for its descriptors and its time limit.
    private func prepare(_ wait: inout PollSource.Wait) {
        var priority: gint = 0
        let isReady = g_main_context_prepare(context, &priority) != 0
        self.priority = priority
        var timeout: gint = -1
        while true {
            let capacity = wait.descriptors.count
            let count = wait.descriptors.withPolled {
                Int(g_main_context_query(context, priority, &timeout, $0, gint(capacity)))
            }
            if count <= capacity {
                wait.descriptors.removeLast(capacity - count)
                break
            }
            wait.descriptors = Array(repeating: pollfd(), count: count)
        }
        // GLib counts whole milliseconds, rounded up: this is never early for it.
        wait.limit = isReady ? .zero : timeout < 0 ? nil : .milliseconds(Int(timeout))
    }

    /// Returns whether a source of the GLib context is ready to be dispatched.
    ///
    /// Called before any callout of the loop: between the context's preparation and its check, a GLib source may hold a lock
    /// that other code waits for, as GDK's source for Wayland does.
    private func check(_ descriptors: [pollfd]) -> Bool {
        var descriptors = descriptors
        let count = gint(descriptors.count)
        return descriptors.withPolled { g_main_context_check(context, priority, $0, count) != 0 }
    }

    private func dispatch() { g_main_context_dispatch(context) }
}

extension [pollfd] {
    fileprivate mutating func withPolled<Result>(_ body: (UnsafeMutablePointer<GPollFD>?) -> Result) -> Result {
        // SAFETY: GPollFD and pollfd are laid out alike, as GLib documents.
        withUnsafeMutableBytes { body($0.assumingMemoryBound(to: GPollFD.self).baseAddress) }
    }
}
#else
public import RunLoops

// With the members of the real one: without them type checking would fail first, with an error that does not name the
// trait.
/// A GLib main context as a source of a run loop; with the trait `GLib` alone.
@available(
    *, unavailable,
    message: "Enable the trait GLib of swift-run-loops: .package(url: …, traits: [\"GLib\"])"
)
public final class GLibContextSource {
    /// Unavailable without the package trait `GLib`.
    public init(context: OpaquePointer? = nil, mode: RunLoop.Mode = .default) throws(RunLoop.SystemCallError) {
        isNotCalled()
    }

    /// Unavailable without the package trait `GLib`.
    public func invalidate() { isNotCalled() }
}

private func isNotCalled() -> Never { fatalError("The compiler refuses each call of this.") }
#endif
