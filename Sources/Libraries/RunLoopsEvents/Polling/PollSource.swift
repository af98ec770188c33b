// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

public import RunLoops
public import RunLoopsLibC

/// Makes another library's event loop a source of the current thread's run loop.
///
/// Libraries such as libusb, ALSA, Wayland, curl, sd-bus and X11 say which descriptors they wait for and how long, and
/// want to be called when one is ready or the time is over. A poll source asks such a library before the loop sleeps
/// (*prepare*), has the loop wait for the library's descriptors and time together with its own, looks which are ready
/// (*check*), and calls the library (*dispatch*). <doc:OtherLibraries> says which calls of each library these are.
///
/// ```swift
/// let source = try PollSource(label: "library") { wait in
///     wait.descriptors = [pollfd(fd: STDIN_FILENO, events: Int16(POLLIN), revents: 0)]
///     wait.limit = .seconds(5)
/// } dispatch: { descriptors in
///     print(descriptors[0].revents)
/// }
/// ```
///
/// The loop never polls the library on a schedule. The descriptors may differ each time.
///
/// The library leaves the loop when the source is released or made invalid.
///
/// Thread safety: all of it on the loop's thread. When another thread gives the library work that none of the library's
/// descriptors shows, that thread calls ``/RunLoops/RunLoop/wakeUp()``.
public final class PollSource {
    /// The descriptors and the time that a library waits for.
    public struct Wait {
        /// The descriptors, each with its `fd` and `events`, as for poll(2).
        ///
        /// A preparation finds the descriptors of the preparation before. A negative number is ignored.
        public var descriptors: [pollfd] = []
        /// The longest time that the library waits; `nil` to wait until a descriptor is ready, however long.
        ///
        /// With zero the library is dispatched in this turn.
        public var limit: Duration?
    }

    private let loop: RunLoop
    private let mode: RunLoop.Mode
    // `nil` once the library has left the loop: what the closures hold is released.
    private var prepare: ((inout Wait) -> Void)?
    private var check: (([pollfd]) -> Bool)?
    private var dispatch: (([pollfd]) -> Void)?
    private var descriptors: PolledDescriptors
    private var wait = Wait()
    private var phase = Phase.dispatched
    /// Whether the last activity that `turn(_:)` handled was `beforeWaiting`: the library was asked just before the sleep.
    private var hasJustAsked = false
    private var descriptorSource: RunLoop.DescriptorSource?
    private var timer: RunLoop.Timer?
    private var observers: [RunLoop.Observer] = []
    /// `nil` once the library has left the loop.
    private var source: RunLoop.Source?

    /// How far the library has come.
    private enum Phase {
        /// The library was dispatched, and was not asked since then what it waits for.
        case dispatched
        /// The library was asked what it waits for, and was not checked since then.
        case prepared
        /// The library was checked, and does not need to be dispatched yet.
        case passed
        /// The library was checked, and is about to be dispatched.
        case ready
    }

    /// Adds a library to a mode of the current thread's loop.
    ///
    /// - Parameters:
    ///   - mode: The mode in which the library is dispatched; `.common` for all common modes.
    ///   - label: What descriptions and tools call the source.
    ///   - prepare: Says what the library waits for. Called before each sleep in the mode, and in each turn without a sleep.
    ///   - check: Says whether to dispatch the library, which is otherwise dispatched when a descriptor is ready or the
    ///     time is over. Called once for each preparation, when the sleep is over and before any other callout of the
    ///     loop: for a library whose preparation must not outlast the sleep, as `wl_display_prepare_read` of Wayland. It
    ///     gets the descriptors of the preparation, each with its `revents`.
    ///   - dispatch: Lets the library work. It gets the descriptors of the last preparation, each with its `revents`.
    ///     None of them may be ready: then the time is over, or a descriptor is no longer ready. It may run the loop.
    /// - Throws: the error of the system: `EMFILE`, `ENFILE`, `ENOMEM` and `ENOSPC` when a resource of the system is
    ///   used up.
    /// - Complexity: a turn in the mode costs one system call for each descriptor, and one more with `check`.
    public init(
        in mode: RunLoop.Mode = .default, label: String = "PollSource", prepare: @escaping (inout Wait) -> Void,
        check: (([pollfd]) -> Bool)? = nil, dispatch: @escaping ([pollfd]) -> Void
    ) throws(RunLoop.SystemCallError) {
        descriptors = try PolledDescriptors()
        loop = RunLoop.current
        self.mode = mode
        self.prepare = prepare
        self.check = check
        self.dispatch = dispatch
        do throws(RunLoop.SystemCallError) {
            try addItems(label)
        } catch {
            leave()
            throw error
        }
    }

    deinit { leave() }

    private func addItems(_ label: String) throws(RunLoop.SystemCallError) {
        // Callouts do no more than mark the source: the library may run the loop again, and an item that is in its own
        // callout is not served by that run.
        let source = RunLoop.Source(label: label) { [weak self] _ in self?.iterate() }
        let timer = RunLoop.Timer(.at(Self.never, every: .seconds(1 << 32)), label: "\(label): time") { _ in
            source.signal()
        }
        // Last of all observers: another observer may have something for the library.
        let before = RunLoop.Observer([.beforeSources, .beforeWaiting], order: .max, label: label) {
            [weak self] _, activity in
            self?.turn(activity)
        }
        // First of all: another observer may call the library.
        let after = RunLoop.Observer(.afterWaiting, order: .min, label: "\(label): check") { [weak self] _, _ in
            self?.endWait()
        }
        (self.source, self.timer, observers) = (source, timer, check == nil ? [before] : [before, after])
        try watch(descriptors.number, source)
        loop.add(source, in: mode)
        loop.add(timer, in: mode)
        for observer in observers { loop.add(observer, in: mode) }
    }

    /// Has the loop wait for this epoll, and for none before.
    private func watch(_ epoll: CInt, _ source: RunLoop.Source) throws(RunLoop.SystemCallError) {
        let item = RunLoop.DescriptorSource(epoll, label: "\(source.label): descriptors") { _, _ in source.signal() }
        try loop.add(item, in: mode)
        descriptorSource?.invalidate()
        descriptorSource = item
    }

    /// Whether the library is still in the loop.
    public var isValid: Bool { source != nil }

    /// Removes the library from the loop permanently, and releases the closures; a second call does nothing.
    ///
    /// If the library is prepared and not checked yet, it is checked now. Allowed everywhere, also in the closures;
    /// inside the preparation, no other closure is called afterwards.
    ///
    /// - Precondition: called on the thread that made the source.
    public func invalidate() {
        loop.requireOwn("poll source")
        leave()
    }

    /// May be called by another thread if that thread has released the source.
    private func leave() {
        if check != nil, phase == .prepared { _ = isReady() }
        let items: [RunLoop.Item?] = observers + [descriptorSource, timer, source]
        (observers, descriptorSource, timer, source) = ([], nil, nil, nil)
        (prepare, check, dispatch) = (nil, nil, nil)
        for item in items { item?.invalidate() }
    }

    // MARK: A turn of the loop

    private static var never: RunLoop.Instant { RunLoop.Instant(nanoseconds: .max) }

    /// The loop looks at its sources, or is about to sleep.
    private func turn(_ activity: RunLoop.Activities) {
        // A loop that never sleeps has to ask too; in others the sleep that has just ended is not long ago.
        let hasJustAsked = self.hasJustAsked
        self.hasJustAsked = activity == .beforeWaiting
        if activity == .beforeSources, hasJustAsked, phase != .dispatched { return }
        var isDue = ask()
        // A lock or similar that a preparation takes until the check must not be held during callouts.
        if activity == .beforeSources, check != nil { isDue = isReady() }
        guard isDue else { return }
        source?.signal()
        // Without it the loop would sleep with the signal unseen.
        if activity == .beforeWaiting { loop.wakeUp() }
    }

    /// The loop has slept.
    private func endWait() {
        if phase == .prepared, isReady() { source?.signal() }
    }

    /// Asks the library what it waits for, and waits for it; true if it need not wait.
    private func ask() -> Bool {
        guard phase != .ready else { return true }
        // In a host the next preparation may come before the end of the wait.
        if check != nil, phase == .prepared, isReady() { return true }
        guard let prepare else { return false }
        // A local one: the library's own callbacks may be called meanwhile, and come by here.
        var wait = Wait()
        swap(&wait, &self.wait)
        wait.limit = nil
        prepare(&wait)
        swap(&wait, &self.wait)
        phase = .prepared
        guard let source else { return false }
        if !descriptors.update(self.wait.descriptors) { renewDescriptors(source) }
        let limit = self.wait.limit
        if descriptors.hasRefused || limit.map({ $0 <= .zero }) ?? false { return true }
        timer?.deadline = limit.map { .now.advanced(by: $0) } ?? Self.never
        return false
    }

    /// Replaces an epoll that still watches files whose descriptor numbers now belong to other files.
    private func renewDescriptors(_ source: RunLoop.Source) {
        do throws(RunLoop.SystemCallError) {
            var renewed = try PolledDescriptors()
            _ = renewed.update(wait.descriptors)
            try watch(renewed.number, source)
            descriptors = renewed
        } catch {
            // The system is out of something: the library is dispatched for nothing until the next change.
        }
    }

    /// Looks what is ready, and asks the library whether it is to work.
    private func isReady() -> Bool {
        PolledDescriptors.look(&wait.descriptors)
        phase = .passed
        guard check?(wait.descriptors) ?? true else { return false }
        phase = .ready
        return true
    }

    /// Dispatches the library, if it was not done already.
    private func iterate() {
        if phase == .dispatched || phase == .passed { _ = ask() }
        guard phase == .ready || isReady(), let dispatch else { return }
        phase = .dispatched
        dispatch(wait.descriptors)
    }
}
