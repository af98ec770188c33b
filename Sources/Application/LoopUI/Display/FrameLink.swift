// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

internal import RunLoops
internal import RunLoopsKit

/// Calls a closure once a frame until it is released: in step with the display's screen, or else on a grid.
///
/// Each frame of the screen is asked for before the loop sleeps, in the modes of the link alone. So the screen wakes no loop that runs
/// in another mode, and none after the link is released, except for a frame that was asked for. While the screen is silent, as
/// a screen that is off, the link goes on by the grid.
@MainActor final class FrameLink {
    /// The rate of the grid.
    static let framesPerSecond = 60.0
    /// A screen whose frame is later than that is silent.
    static let patience = Duration.milliseconds(100)
    /// So often a silent screen is asked again.
    static let retry = Duration.seconds(1)

    /// The grid, where the display hears of no frames, or its screen is silent.
    private(set) var grid: RunLoop.DisplayLink?
    private let frames: ScreenFrames
    private let modes: [RunLoop.Mode]
    private let handler: (RunLoop.Instant) -> Void
    /// The last frame, or when the link was made: a frame that began before is none of the link's.
    private var last: RunLoop.Instant
    private var asking: RunLoop.Observer?
    private var watchdog: RunLoop.Timer?
    /// When the screen counts as silent.
    private var deadline: RunLoop.Instant

    /// - Parameters:
    ///   - frames: The frames of the application.
    ///   - modes: The modes in which frames come.
    ///   - handler: Receives the beginning of the frame.
    init(_ frames: ScreenFrames, in modes: [RunLoop.Mode], handler: @escaping (RunLoop.Instant) -> Void) {
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
        if grid != nil { return }
        grid = RunLoop.DisplayLink(framesPerSecond: Self.framesPerSecond, in: modes) { [weak self] frame in
            guard let self else { return }
            last = max(last, frame.time)
            frames.gridFrame(at: frame.time, skipped: frame.skipped)
            handler(frame.time)
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
        watchdog?.fireInstant = deadline
    }

    /// Whether a frame of the screen is for this link; from then on the link is in step with the screen.
    func takes(_ mode: RunLoop.Mode?, at time: RunLoop.Instant) -> Bool {
        guard let mode, modes.contains(.common) || modes.contains(mode) else { return false }
        grid = nil
        wait()
        if time <= last { return false }
        last = time
        return true
    }

    /// A frame of the screen.
    func frame(at time: RunLoop.Instant) { handler(time) }
}
