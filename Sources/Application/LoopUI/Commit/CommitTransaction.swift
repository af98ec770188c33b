// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

internal import RunLoops
internal import RunLoopsConcurrency
internal import RunLoopsKit

/// Collects the changes of a turn of the loop, and commits them together: constraints, layout, drawing, preparation, and
/// one frame for the display.
///
/// These are the five phases of a commit (``Phase``). A trace shows each phase that has something to do, by its name.
///
/// The commit runs before the loop sleeps and when a run ends, with the order 2,000,000, which Core Animation's observer
/// has too. A change after a quiet time is shown at once; changes that follow within a sixtieth of a second are shown
/// together. While the display is still busy with a frame, nothing is drawn: changes add up, and no queue grows.
@MainActor public final class CommitTransaction {
    /// Counts the work of the phases.
    public struct Counts: Hashable, Sendable {
        /// The number of times that a view updated its constraints.
        public var constraintUpdates = 0
        /// The number of times that views laid out their subviews.
        public var layouts = 0
        /// The number of times that a view drew.
        public var displays = 0
        /// The number of frames that the display took.
        public var frames = 0
        /// The number of frames that the display refused because it was busy.
        public var refusals = 0
        /// The number of frames that passed while something moved and the thread was busy.
        ///
        /// The frames are those of the screen if the display reports them, otherwise the application's own 60 a second.
        public var missedFrames = 0
    }

    /// The work of all commits so far.
    public internal(set) var counts = Counts()
    /// The shortest time between two frames.
    public var frameInterval = Duration.nanoseconds(16_666_667)

    /// The order of the observer that calls the closures of ``afterCommit(_:)``.
    public static let afterCommitOrder = 1_999_000
    /// The time by which a commit may be early: the calls for frames of animations do not come at exactly equal
    /// intervals.
    package static let slack = Duration.milliseconds(1)
    /// The maximum number of rounds of constraints and layout in a commit; views that still ask for layout then wait
    /// for the next commit.
    static let maxRounds = 16

    private let loop: RunLoop
    private let display: any Display
    private let windows: WindowStack
    private let transaction: RunLoop.Transaction
    /// Draws views on other threads.
    let drawings: DrawingTransaction
    private var toConstrain: [View] = []
    private var toLayOut: [View] = []
    private var toDisplay: [View] = []
    /// The views that are drawn in this commit; an empty array between commits, which keeps its memory.
    private var displayed: [View] = []
    /// The views of whose drawings a part is kept.
    private var large: [WeakView] = []
    private struct WeakView { weak var view: View? }
    private var preparations: [() -> Void] = []
    private var completions: [() -> Void] = []
    private var followers: [() -> Void] = []
    private var due: [() -> Void] = []
    private var damaged = CellRect.empty
    /// The area that was composed since the display last took a frame.
    private var unshown = CellRect.empty
    private var isFrameMarked = false
    private var cells = CellGrid(width: 0, height: 0)
    private var lastPass: RunLoop.Instant?
    /// Whether a commit is under way.
    private(set) var isInPass = false
    private var alarm: RunLoop.Timer?
    private var isDisplayBusy = false
    private var follower: RunLoop.Observer?
    /// Called at the end of each commit, after its frame, if it has one, was presented.
    var whenPresented: (() -> Void)?
    /// Called in each commit before the frame is composed, with the present instant.
    var whenPresenting: ((RunLoop.Instant) -> Void)?

    init(_ loop: RunLoop, _ display: any Display, _ windows: WindowStack) {
        self.loop = loop
        self.display = display
        self.windows = windows
        drawings = DrawingTransaction(loop)
        let modes = [RunLoop.Mode.common, .initialization]
        transaction = RunLoop.Transaction(in: modes)
        let follower = RunLoop.Observer(
            [.beforeWaiting, .exit], order: Self.afterCommitOrder, label: "after commit"
        ) { [weak self] _, _ in self?.runFollowers() }
        loop.add(follower, in: .common)
        self.follower = follower
    }

    /// Ends the transaction for good.
    func invalidate() {
        transaction.invalidate()
        drawings.invalidate()
        follower?.invalidate()
        alarm?.invalidate()
    }

    // MARK: Marking

    // A view is noted once, however often it asks before it is served.

    func markConstraints(_ view: View) {
        if !view.isConstraintsMarked {
            view.isConstraintsMarked = true
            toConstrain.append(view)
        }
        mark()
    }

    func markLayout(_ view: View) {
        if !view.isLayoutMarked {
            view.isLayoutMarked = true
            toLayOut.append(view)
        }
        mark()
    }

    func markDisplay(_ view: View) {
        if !view.isDisplayMarked {
            view.isDisplayMarked = true
            toDisplay.append(view)
        }
        mark()
    }

    /// Asks for a part of the display to be composed again.
    func damage(_ rect: Rect) {
        let area = CellRect(rect)
        if area.isEmpty { return }
        damaged = damaged.union(area)
        markFrame()
    }

    /// Asks for a frame, although no cell may have changed.
    func markFrame() {
        isFrameMarked = true
        mark()
    }

    /// Asks for the whole display to be composed again.
    func damageAll() { damage(Rect(size: display.size)) }

    /// Asks for a commit, even if nothing that is shown may have changed.
    func markPass() { mark() }

    private func mark() {
        // While the display is busy, the time has not come or the pass is under way, the end of that marks again.
        if isDisplayBusy || alarm != nil || isInPass { return }
        transaction.mark(self) { [weak self] in self?.commit() }
    }

    /// Calls a closure in the fourth phase of the next commit: after drawing, before the frame is presented.
    public func prepare(_ body: @escaping () -> Void) {
        preparations.append(body)
        mark()
    }

    /// Calls a closure after the next commit, in the turn that follows it.
    public func afterCommit(_ body: @escaping () -> Void) { followers.append(body) }

    /// Calls a closure, and commits the changes that it makes together; a group inside another is committed with the
    /// outermost group.
    ///
    /// - Parameters:
    ///   - completion: Called after the commit of the group.
    ///   - body: Makes the changes.
    public func group<Result, Failure: Error>(
        completion: (() -> Void)? = nil, _ body: () throws(Failure) -> Result
    ) throws(Failure) -> Result {
        defer {
            // The kit's own completion would come although the pass is put off.
            if let completion {
                completions.append(completion)
                mark()
            }
        }
        return try transaction.group(body)
    }

    /// Commits the marked changes now, unless the display is busy or less than ``frameInterval`` has passed since the
    /// last commit.
    public func flush() {
        // The alarm rings in the common modes, and not in the middle of a callout.
        if alarm != nil, timeOfNextPass == nil { endAlarm() }
        transaction.flush()
    }

    /// Commits the marked changes now, however soon after the last commit, unless the display is busy.
    func flushLast() {
        lastPass = nil
        flush()
    }

    // MARK: The pass

    private func commit() {
        // A run inside the pass comes here, and so does a flush: the end of the pass marks again.
        if isInPass || isTooEarly() { return }
        isInPass = true
        // An early pass counts as one in time, so that there are never more of them than the interval allows.
        let now = loop.clock.now
        lastPass = max(now, lastPass?.advanced(by: frameInterval) ?? now)
        layOut()
        if isFrameMarked, !large.isEmpty { lookAtLargeViews() }
        if !toDisplay.isEmpty { report(.display) { draw() } }
        if !preparations.isEmpty { report(.prepare) { runPreparations() } }
        whenPresenting?(loop.clock.now)
        if isFrameMarked { report(.commit) { present() } }
        drawings.begin()
        whenPresented?()
        let completed = completions
        completions = []
        for body in completed { body() }
        if !followers.isEmpty {
            due += followers
            followers = []
            loop.wakeUp()
        }
        isInPass = false
        let isMore =
            !toConstrain.isEmpty || !toLayOut.isEmpty || !toDisplay.isEmpty || !preparations.isEmpty
            || !completions.isEmpty
        if isMore || isFrameMarked { mark() }
    }

    /// How long the frame of changes that are marked may not be shown yet; `nil` if there are none.
    package var timeToNextFrame: Duration? { (alarm?.deadline).map { loop.clock.now.duration(to: $0) } }

    /// The time of the next frame; `nil` if it may be shown now.
    private var timeOfNextPass: RunLoop.Instant? {
        guard let next = lastPass?.advanced(by: frameInterval) else { return nil }
        return loop.clock.now.advanced(by: Self.slack) >= next ? nil : next
    }

    /// Whether the next frame may not be shown yet; if so, sets an alarm for the time when it may.
    private func isTooEarly() -> Bool {
        guard let next = timeOfNextPass else { return false }
        let timer = RunLoop.Timer(.at(next), label: "next frame") { [weak self] _ in self?.endAlarm() }
        alarm = timer
        loop.add(timer, in: .common)
        return true
    }

    private func endAlarm() {
        alarm?.invalidate()
        alarm = nil
        mark()
    }

    func displayIsReady() {
        isDisplayBusy = false
        mark()
        // The display may say so outside the loop's own turn.
        loop.wakeUp()
    }

    /// Called at the beginning of each phase that has something to do.
    public var phaseHandler: ((Phase) -> Void)?

    private func report(_ phase: Phase, _ body: () -> Void) {
        phaseHandler?(phase)
        loop.callOut(part: phase.label, body)
    }

    /// Runs the first two phases, repeatedly while views ask for them: superviews before the views inside them.
    private func layOut() {
        for _ in 0..<Self.maxRounds {
            if toConstrain.isEmpty && toLayOut.isEmpty { return }
            if !toConstrain.isEmpty { report(.constraints) { updateConstraints() } }
            if !toLayOut.isEmpty { report(.layout) { layOutRound() } }
        }
    }

    private func updateConstraints() {
        let views = Self.sorted(toConstrain)
        toConstrain = []
        for view in views { view.isConstraintsMarked = false }
        for view in views where view.needsUpdateConstraints && view.window != nil { view.updateConstraintsIfNeeded() }
    }

    private func layOutRound() {
        let views = Self.sorted(toLayOut)
        toLayOut = []
        for view in views { view.isLayoutMarked = false }
        for view in views where view.needsLayout && view.window != nil { view.layOutTree() }
    }

    private static func sorted(_ views: [View]) -> [View] {
        views.map { ($0.depth, $0) }.sorted { $0.0 < $1.0 }.map(\.1)
    }

    /// Has a view looked at in each commit, because its drawing has kept the part that could be seen.
    func watchDrawing(of view: View) { large.append(WeakView(view: view)) }

    private func lookAtLargeViews() {
        let size = display.size
        large.removeAll { !($0.view?.displayAgainIfMoved(within: size) ?? false) }
    }

    /// Runs the third phase: draws the views that asked for it.
    private func draw() {
        swap(&toDisplay, &displayed)
        for view in displayed { view.isDisplayMarked = false }
        for view in displayed where view.needsDisplay && view.window != nil && view.isShown {
            counts.displays += 1
            view.displayIfNeeded()
        }
        displayed.removeAll(keepingCapacity: true)
    }

    /// Runs the fourth phase: calls the closures of ``prepare(_:)``.
    private func runPreparations() {
        let prepared = preparations
        preparations = []
        for body in prepared { body() }
    }

    /// Runs the fifth phase: composes a frame and presents it.
    private func present() {
        let size = CellRect(Rect(size: display.size))
        let (width, height) = Band.limited(width: size.columns.count, height: size.rows.count)
        if cells.width != width || cells.height != height {
            cells = CellGrid(width: width, height: height)
            (damaged, unshown) = (cells.bounds, .empty)
        }
        let area = damaged.clipped(to: cells.bounds)
        if !area.isEmpty {
            cells.fill(area, with: .blank)
            for window in windows.all { window.compose(into: &cells, offset: .zero, clip: area) }
            unshown = unshown.union(area)
        }
        damaged = .empty
        isFrameMarked = false
        let frame = Frame(
            cells: cells, pictures: pictures, cursor: cursor, title: windows.key?.rootOwner?.title,
            changedRows: unshown.rows)
        // A display may say that it is ready before it has said that it is busy.
        isDisplayBusy = true
        switch display.present(frame) {
        case .taken:
            isDisplayBusy = false
            unshown = .empty
            counts.frames += 1
        case .busy:
            counts.refusals += 1
            isFrameMarked = true
        }
    }

    private var pictures: [PlacedPicture] {
        var placed: [PlacedPicture] = []
        guard display.abilities.hasPictures else { return placed }
        for window in windows.all { window.collectPictures(into: &placed, offset: .zero) }
        return placed.filter { !$0.area.clipped(to: cells.bounds).isEmpty }
    }

    private var cursor: Point? {
        guard let view = windows.key?.firstResponder as? View, view.isShown, let place = view.cursor else {
            return nil
        }
        return place + view.shownOffset
    }

    /// Calls the closures that wait for the end of the last commit; called by the observer that runs before the next commit.
    private func runFollowers() {
        let bodies = due
        due = []
        for body in bodies { body() }
    }
}
