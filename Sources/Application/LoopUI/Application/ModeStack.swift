// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

public import RunLoops

/// The modes that the application's loop runs in, one after the other; only the run of a modal controller is nested in
/// another.
///
/// A scroll view pushes `tracking` when a finger begins to drag: the run in the default mode ends, and a run in the
/// tracking mode begins. When the scroll view pops the mode, the loop returns to the default mode in the same way. So
/// items that are only in the default mode wait until then, and no run is nested in another.
@MainActor public final class ModeStack {
    private var modes: [RunLoop.Mode] = [.default]
    private let loop: RunLoop
    private var isInvalid = false
    /// The runs that the application has begun, the innermost last; runs of the program may be nested in each of them.
    private var runs: [RunLoop.RunID] = []

    init(_ loop: RunLoop) { self.loop = loop }

    /// The mode that the loop runs in, or is about to run in.
    public var current: RunLoop.Mode { modes.last ?? .default }

    /// Ends the application's present run of the loop; the next run is in this mode.
    ///
    /// A run that the program has begun in a callout of the application's run goes on, and the mode changes after it.
    ///
    /// The application's own items are in the common modes. In any other mode there is no input, no gesture and no frame
    /// until the mode is popped, which an item of that mode has to do.
    ///
    /// - Precondition: the mode has a source or a timer for as long as it is the current mode; each common mode has one.
    ///   In an empty mode, a loop has nothing to wait for. It would turn again and again, as Core Foundation's loop
    ///   does, or sleep forever, so that the user could not leave the mode.
    public func push(_ mode: RunLoop.Mode) {
        change { modes.append(mode) }
        checkCurrent()
    }

    /// Called when the program has ended: its items have left the modes, so an empty mode no longer traps.
    func invalidate() { isInvalid = true }

    /// Traps if the current mode has nothing left to wait for.
    func checkCurrent() {
        require(
            isInvalid || !loop.isEmpty(current),
            "The application cannot run in the mode \(current): it has no source and no timer. Make it a common mode with "
                + "addCommonMode(_:) before it is pushed, or pop it before its last item goes.")
    }

    /// Removes the last push of this mode; nothing happens if there was none.
    public func pop(_ mode: RunLoop.Mode) {
        guard let index = modes.lastIndex(of: mode), index > 0 else { return }
        change { modes.remove(at: index) }
    }

    /// Makes a mode the current one while a closure runs the loop inside the present run.
    func nest(_ mode: RunLoop.Mode, _ body: () -> Void) {
        modes.append(mode)
        checkCurrent()
        body()
        if let index = modes.lastIndex(of: mode), index > 0 { modes.remove(at: index) }
    }

    private func change(_ body: () -> Void) {
        let old = current
        body()
        if current != old { runAnew() }
    }

    // MARK: The application's runs

    /// Calls a closure that runs the loop, as a run of the application.
    func run(_ body: (RunLoop.Mode) -> RunLoop.RunResult) -> RunLoop.RunResult {
        runs.append(loop.nextRun)
        defer { runs.removeLast() }
        return body(current)
    }

    /// The number of the application's runs in progress.
    var depth: Int { runs.count }

    /// Whether the innermost run of the loop is the application's, and not one that the program has begun in a callout.
    var isInnermost: Bool { !runs.isEmpty && runs.last == loop.currentRun }

    /// Ends the application's innermost run, so that its loop looks again at its mode and its end.
    func runAnew() {
        if let run = runs.last { loop.stop(run) }
    }

    /// Ends the application's runs that were begun at this depth or deeper, and all runs of the program in them.
    func stop(from depth: Int) {
        if depth < runs.count { loop.stop(through: runs[depth]) }
    }
}
