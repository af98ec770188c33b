// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

public import RunLoops
internal import RunLoopsEvents
internal import RunLoopsLibC

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
    private let glib = GLibFunctions.shared
    private let context: OpaquePointer
    private var priority: CInt = 0
    private var polled: PollSource?

    /// Adds a context to a mode of the current thread's loop.
    ///
    /// - Parameters:
    ///   - context: A `GMainContext`, which this object retains; `nil` for the default context.
    ///   - mode: The mode in which the context is dispatched; `.common` for all common modes.
    /// - Precondition: GLib is in the process.
    /// - Throws: ``GLibContextError``: another thread owns the context, or the system is out of descriptors.
    public init(context: OpaquePointer? = nil, in mode: RunLoop.Mode = .default) throws(GLibContextError) {
        guard let context = context ?? glib.contextDefault() else {
            preconditionFailure("g_main_context_default returned nothing")
        }
        guard glib.contextAcquire(context) != 0 else { throw .ownedByAnotherThread }
        self.context = glib.contextRef(context)
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
        glib.contextRelease(context)
        glib.contextUnref(context)
    }

    // MARK: The context

    /// Asks the context for its descriptors and its time limit.
    private func prepare(_ wait: inout PollSource.Wait) {
        var priority: CInt = 0
        let isReady = glib.contextPrepare(context, &priority) != 0
        self.priority = priority
        var timeout: CInt = -1
        while true {
            let capacity = wait.descriptors.count
            let count = wait.descriptors.withPolled {
                Int(glib.contextQuery(context, priority, &timeout, $0, CInt(capacity)))
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
        let count = CInt(descriptors.count)
        return descriptors.withPolled { glib.contextCheck(context, priority, $0, count) != 0 }
    }

    private func dispatch() { glib.contextDispatch(context) }
}

extension [pollfd] {
    /// Calls `body` with the elements, which are laid out like GLib's `GPollFD`, as GLib documents.
    fileprivate mutating func withPolled<Result>(_ body: (UnsafeMutablePointer<pollfd>?) -> Result) -> Result {
        withUnsafeMutableBufferPointer { body($0.baseAddress) }
    }
}
