// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

#if GLib
internal import CGLib
public import RunLoops

/// A GLib main context as a source of the current thread's run loop: the loop dispatches what is attached to the
/// context.
///
/// Before the loop sleeps, the context is prepared and queried. The loop waits for the context's descriptors with its
/// own, and the context's next timeout becomes the date of a timer. When any of these is ready, the context is checked
/// and dispatched. GLib's
/// priorities hold among the context's own sources. A source that another thread attaches, and `g_main_context_invoke`,
/// wake the loop through the context's own descriptor. The loop never polls the context on a schedule.
///
/// The loop's thread owns the context (`g_main_context_acquire`) as long as this object lives: another thread can
/// attach to the context and invoke on it, and cannot run it. The loop's thread itself may run it, also in its own
/// callbacks.
///
/// The context leaves the loop when this object is released or made invalid.
///
/// Thread safety: all of it on the loop's thread.
public final class GLibContextSource {
    private let context: OpaquePointer
    private let loop: RunLoop
    private let mode: RunLoop.Mode
    private var descriptors: PolledDescriptors
    private var polled: [GPollFD] = []
    private var polledCount = 0
    private var priority: gint = 0
    /// Whether the context has been asked, and not yet checked.
    private var isPrepared = false
    private var isValid = true

    private var observer: RunLoop.Observer?
    private var descriptorSource: RunLoop.DescriptorSource?
    private var timer: RunLoop.Timer?
    private var source: RunLoop.Source?

    /// Adds a context to a mode of the current thread's loop.
    ///
    /// - Parameters:
    ///   - context: A `GMainContext`; `nil` for the default context. It is kept.
    ///   - mode: The mode in which the context is dispatched; `.common` for all common modes.
    /// - Throws: ``GLibContextError``: another thread owns the context, or the system is out of descriptors.
    public init(context: OpaquePointer? = nil, mode: RunLoop.Mode = .default) throws(GLibContextError) {
        guard let context = context ?? g_main_context_default() else {
            preconditionFailure("g_main_context_default returned nothing")
        }
        do throws(RunLoop.SystemCallError) {
            descriptors = try PolledDescriptors()
        } catch {
            throw .systemCall(error)
        }
        self.context = g_main_context_ref(context)
        self.mode = mode
        loop = RunLoop.current
        guard g_main_context_acquire(context) != 0 else {
            isValid = false
            g_main_context_unref(context)
            throw .ownedByAnotherThread
        }
        do throws(RunLoop.SystemCallError) {
            try addItems()
        } catch {
            invalidate()
            throw .systemCall(error)
        }
    }

    deinit { invalidate() }

    private func addItems() throws(RunLoop.SystemCallError) {
        // Callouts do no more than mark the source: a callback of GLib may run the loop again, and an item that is in
        // its own callout is not served by that run.
        let source = RunLoop.Source(label: "GLib") { [weak self] _ in self?.iterate() }
        let descriptorSource = RunLoop.DescriptorSource(descriptors.epoll, label: "GLib's descriptors") { _, _ in
            source.signal()
        }
        let timer = RunLoop.Timer(.at(Self.never, every: .seconds(1 << 32)), label: "GLib's timeout") { _ in
            source.signal()
        }
        // Last of all observers: another observer may have something for the context.
        let observer = RunLoop.Observer([.beforeSources, .beforeWaiting], order: .max, label: "GLib") {
            [weak self] _, activity in
            self?.turn(activity)
        }
        (self.source, self.descriptorSource, self.timer, self.observer) = (source, descriptorSource, timer, observer)
        try loop.add(descriptorSource, in: mode)
        loop.add(source, in: mode)
        loop.add(timer, in: mode)
        loop.add(observer, in: mode)
    }

    /// Takes the context out of the loop and gives it up; a second call does nothing.
    public func invalidate() {
        guard isValid else { return }
        isValid = false
        let items: [RunLoop.Item?] = [observer, descriptorSource, timer, source]
        for item in items { item?.invalidate() }
        g_main_context_release(context)
        g_main_context_unref(context)
    }

    // MARK: A turn of the loop

    private static var never: RunLoop.Instant { RunLoop.Instant(nanoseconds: .max) }

    /// The loop looks at its sources, or is about to sleep.
    private func turn(_ activity: RunLoop.Activities) {
        // A loop that is never idle has to ask too, but only anew.
        if activity == .beforeSources, isPrepared { return }
        guard prepare() else { return }
        source?.signal()
        // Without it the loop would sleep with the signal unseen.
        if activity == .beforeWaiting { loop.wakeUp() }
    }

    /// Asks the context what it waits for, and waits for it; true if it need not wait.
    private func prepare() -> Bool {
        var priority: gint = 0
        let isReady = g_main_context_prepare(context, &priority) != 0
        self.priority = priority
        let timeout = query()
        isPrepared = true
        descriptors.update(polled[0..<polledCount])
        if isReady || timeout == 0 || descriptors.hasAlwaysReady { return true }
        // GLib counts whole milliseconds, rounded up: this is never early for it.
        timer?.fireInstant = timeout < 0 ? Self.never : .now.advanced(by: .milliseconds(Int(timeout)))
        return false
    }

    private func query() -> gint {
        // A local one: a source's own functions are called meanwhile, and may come by here.
        var fds: [GPollFD] = []
        swap(&fds, &polled)
        defer { swap(&fds, &polled) }
        while true {
            var timeout: gint = -1
            let count = Int(g_main_context_query(context, priority, &timeout, &fds, gint(fds.count)))
            if count <= fds.count {
                polledCount = count
                return timeout
            }
            fds = Array(repeating: GPollFD(), count: count + 8)
        }
    }

    /// Checks what is ready, and dispatches it.
    private func iterate() {
        if !isPrepared { _ = prepare() }
        isPrepared = false
        var fds = polled[0..<polledCount]
        descriptors.look(&fds)
        var checked = Array(fds)
        if g_main_context_check(context, priority, &checked, gint(checked.count)) != 0 {
            g_main_context_dispatch(context)
        }
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
    /// As with the trait.
    public init(context: OpaquePointer? = nil, mode: RunLoop.Mode = .default) throws(RunLoop.SystemCallError) {
        isNotCalled()
    }

    /// As with the trait.
    public func invalidate() { isNotCalled() }
}

private func isNotCalled() -> Never { fatalError("The compiler refuses each call of this.") }
#endif
