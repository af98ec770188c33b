// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

internal import RunLoops
internal import RunLoopsConcurrency

/// Moves the values that views show to the values that were set, once a frame.
///
/// The frames of the screen drive the animator in the common modes, so that values move during a drag too. The animator
/// has a frame link while values move, and a timer while all of them wait for their delays; otherwise it does not wake
/// the loop.
@MainActor final class Animator {
    private let loop: RunLoop
    private let commit: CommitTransaction
    private let frames: ScreenFrames
    private let reducesMotion: () -> Bool
    /// The views whose values move, each once; the values of some views may have arrived since the last frame.
    private var views: [View] = []
    /// The groups whose values move, or wait for their delays.
    private var groups: [AnimationGroup] = []
    /// The groups that have ended, and whose completions were not called.
    private var ended: [AnimationGroup] = []
    private var link: FrameLink?
    private var alarm: RunLoop.Timer?
    private var isInvalid = false
    private var isInFrame = false

    init(
        _ loop: RunLoop, _ commit: CommitTransaction, _ frames: ScreenFrames, reducesMotion: @escaping () -> Bool
    ) {
        self.loop = loop
        self.commit = commit
        self.frames = frames
        self.reducesMotion = reducesMotion
    }

    /// Ends the animator for good: afterwards no value moves, and no completion is called.
    func invalidate() {
        isInvalid = true
        stop()
        for view in views { view.extras?.endMoves() }
        (views, groups, ended) = ([], [], [])
    }

    /// Whether values move.
    var isMoving: Bool { link != nil || alarm != nil }

    /// Whether the values of a group move; if not, they are shown at once as they were set.
    func moves(_ group: AnimationGroup) -> Bool { !isInvalid && group.duration > .zero && !reducesMotion() }

    // MARK: Beginning

    /// Calls a closure in a commit group of its own; the shown values follow the values that the closure sets.
    func run(_ group: AnimationGroup, _ animations: () -> Void) {
        group.isOpen = true
        commit.group {
            let outer = AnimationGroup.current
            AnimationGroup.current = group
            defer { AnimationGroup.current = outer }
            animations()
        }
        group.isOpen = false
        if group.moves == 0 { end(group) }
    }

    /// Called when a value of a view begins to move.
    func begin(_ group: AnimationGroup, of view: View, _ extras: ViewExtras) {
        group.moves += 1
        if !extras.isMoving {
            extras.isMoving = true
            views.append(view)
        }
        if group.isListed { return }
        group.isListed = true
        groups.append(group)
        // The time of the pass is when it begins.
        commit.markPass()
        setLink()
    }

    /// Called before a commit presents its frame; the groups that have not begun yet begin at `now`, plus their delay.
    func commitIsPresented(at now: RunLoop.Instant) {
        guard groups.contains(where: { $0.begin == nil }) else { return }
        for group in groups { group.begin(at: now) }
        setLink()
    }

    // MARK: Ending

    /// Called when a value has arrived, or was interrupted.
    func end(_ move: AnimatedMove, isInterrupted: Bool) {
        let group = move.group
        if isInterrupted { group.wasInterrupted = true }
        group.moves -= 1
        // While the group's closure runs, it may set the value again.
        if group.moves == 0, !group.isOpen { end(group) }
    }

    private func end(_ group: AnimationGroup) {
        if isInvalid { return }
        ended.append(group)
        // The program is not called in the middle of what it does.
        if ended.count == 1, !isInFrame { loop.performLocally(in: .common) { [weak self] in self?.settle() } }
    }

    /// Called when a window is no longer shown; the values of its views are shown as they were set.
    func endMoves(in window: Window) {
        for view in views where view.window === window { view.endMoves() }
    }

    /// Calls the completions of the groups that have ended, and stops if nothing is left.
    private func settle() {
        let done = ended
        ended = []
        for view in views where view.extras?.moves.isEmpty ?? true { view.extras?.isMoving = false }
        views.removeAll { !($0.extras?.isMoving ?? false) }
        groups.removeAll { $0.moves == 0 && !$0.isOpen }
        setLink()
        View.performWithoutAnimation { for group in done where !isInvalid { group.complete() } }
    }

    // MARK: Frames

    private func frame(at time: RunLoop.Instant) {
        // Where no commit could set the beginning, the first frame does.
        for group in groups { group.begin(at: time) }
        let isOver = reducesMotion()
        isInFrame = true
        for view in views { view.showMoves(at: time, isOver: isOver) }
        isInFrame = false
        if !ended.isEmpty || views.isEmpty { settle() }
    }

    /// Makes the frame link if a value moves now, or the timer if all values wait for their delays.
    private func setLink() {
        if groups.isEmpty || isInvalid { return stop() }
        let now = loop.clock.now
        let first = groups.map { $0.begin ?? now }.min() ?? now
        if first <= now {
            alarm?.invalidate()
            alarm = nil
            if link != nil { return }
            link = FrameLink(frames, in: [.common]) { [weak self] frame in self?.frame(at: frame.time) }
            return
        }
        stop()
        let alarm = RunLoop.Timer(.at(first), label: "delayed animation") { [weak self] _ in self?.setLink() }
        loop.add(alarm, in: .common)
        self.alarm = alarm
    }

    private func stop() {
        link = nil
        alarm?.invalidate()
        alarm = nil
    }
}
