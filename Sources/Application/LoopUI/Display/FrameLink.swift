// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

internal import RunLoops
internal import RunLoopsKit

/// Calls a closure once a frame until the link is released: in step with the display's screen, or else on a grid.
///
/// The link asks for each frame of the screen before the loop sleeps, in the modes of the link alone. So the screen does
/// not wake a loop that runs in another mode, nor the loop of a link that was released, except for one frame that was
/// asked for before. While the screen reports no frames, for example because it is off, the link uses the grid.
@MainActor final class FrameLink {
    /// The frames of the grid in a second.
    static let framesPerSecond = 60.0
    /// The time after which a screen that reports no frame counts as silent.
    static let patience = Duration.milliseconds(100)
    /// The interval at which a silent screen is asked again.
    static let retry = Duration.seconds(1)

    /// The grid; nil while the link is in step with the screen.
    private(set) var grid: RunLoop.DisplayLink?
    private let frames: ScreenFrames
    private let modes: [RunLoop.Mode]
    private let handler: (DisplayLink.Frame) -> Void
    /// The beginning of the last frame, or the time at which the link was made; earlier frames are ignored.
    private var last: RunLoop.Instant
    /// The number of the last frame of the screen; `nil` if the last frame was not one of the screen.
    private var number: Int?
    /// How many frames of the screen passed before the last one.
    private var skipped = 0
    private var asking: RunLoop.Observer?
    private var watchdog: RunLoop.Timer?
    /// The instant at which the screen counts as silent.
    private var deadline: RunLoop.Instant

    /// - Parameters:
    ///   - frames: The frames of the application.
    ///   - modes: The modes in which the closure is called.
    ///   - handler: Called once a frame.
    init(_ frames: ScreenFrames, in modes: [RunLoop.Mode], handler: @escaping (DisplayLink.Frame) -> Void) {
        self.frames = frames
        self.modes = modes
        self.handler = handler
        last = frames.now
        deadline = last.advanced(by: Self.patience)
        if frames.add(self) { followScreen() } else { followGrid() }
    }

    deinit {
        asking?.invalidate()
        watchdog?.invalidate()
    }

    private func followScreen() {
        let loop = RunLoop.current
        let asking = RunLoop.Observer(.beforeWaiting, label: "ask for a frame") { [weak self] _, _ in self?.ask() }
        let watchdog = RunLoop.Timer(.at(deadline, every: Self.retry), label: "late frame") { [weak self] _ in
            self?.isLate()
        }
        for mode in modes {
            loop.add(asking, in: mode)
            loop.add(watchdog, in: mode)
        }
        (self.asking, self.watchdog) = (asking, watchdog)
    }

    private func followGrid() {
        if grid != nil || frames.isInvalid { return }
        number = nil
        grid = RunLoop.DisplayLink(framesPerSecond: Self.framesPerSecond, in: modes) { [weak self] frame in
            guard let self else { return }
            if frames.isInvalid { return stop() }
            last = max(last, frame.time)
            frames.gridFrame(at: frame.time, skipped: frame.skipped)
            handler(
                DisplayLink.Frame(time: frame.time, next: frame.next, skipped: frame.skipped, isOfScreen: false))
        }
    }

    private func ask() { if !frames.request() { followGrid() } }

    private func isLate() {
        let isOwed = frames.isAwaited
        // A loop that never sleeps does not come to the observer that asks.
        ask()
        // A thread that was busy, or ran another mode, has not looked for the report.
        if !isOwed || deadline.advanced(by: .milliseconds(10)) < frames.now { return wait() }
        followGrid()
        _ = frames.requestAgain()
        // The timer itself comes again.
        deadline = frames.now.advanced(by: Self.retry)
    }

    private func wait() {
        deadline = frames.now.advanced(by: Self.patience)
        watchdog?.deadline = deadline
    }

    /// Whether a frame of the screen is delivered to this link; a frame in the link's modes puts the link in step with
    /// the screen.
    func takes(_ mode: RunLoop.Mode?, at time: RunLoop.Instant, number: Int) -> Bool {
        guard let mode, modes.contains(.common) || modes.contains(mode) else { return false }
        grid = nil
        wait()
        if time <= last { return false }
        last = time
        skipped = max(0, self.number.map { number &- $0 &- 1 } ?? 0)
        self.number = number
        return true
    }

    /// Calls the closure for a frame of the screen, which the link has taken.
    func frame(at time: RunLoop.Instant, next: RunLoop.Instant) {
        handler(DisplayLink.Frame(time: time, next: next, skipped: skipped, isOfScreen: true))
    }

    /// Stops the frames, because the application has ended.
    func stop() {
        grid = nil
        asking?.invalidate()
        watchdog?.invalidate()
    }
}
