// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

internal import RunLoops
internal import RunLoopsConcurrency

/// Asks the display for each frame of its screen, and delivers the frame to the links that run in the present mode.
@MainActor package final class ScreenFrames {
    /// The number of frames that were delivered, of the screen or of the grid.
    package private(set) var delivered = 0
    /// Whether the last frame that was delivered was one of the screen.
    package private(set) var isInStep = false

    private let display: any Display
    private let loop: RunLoop
    private let commit: CommitTransaction
    private var links: [WeakLink] = []
    /// Delivers a reported frame, outside of the display's own call; made with the first frame that a display promises.
    private var source: RunLoop.Source?
    /// The frame that was reported and not delivered yet.
    private var reported: (instant: RunLoop.Instant, number: Int)?
    /// The last frame that was delivered, from which missed frames are counted.
    private var last: (instant: RunLoop.Instant, number: Int)?
    /// The time between two frames of the screen, as last seen.
    private var period = Duration.seconds(1) / Int(FrameLink.framesPerSecond)
    /// The beginning of the last frame of the grid; links whose grids are in step count as one.
    private var lastOfGrid: RunLoop.Instant?
    /// Whether the display owes a report.
    private(set) var isAwaited = false
    /// Whether the application has ended.
    private(set) var isInvalid = false

    private struct WeakLink {
        weak var link: FrameLink?
    }

    init(_ display: any Display, _ loop: RunLoop, _ commit: CommitTransaction) {
        self.display = display
        self.loop = loop
        self.commit = commit
    }

    /// Ends the frames for good.
    func invalidate() {
        isInvalid = true
        for link in links { link.link?.stop() }
        links = []
        reported = nil
        source?.invalidate()
    }

    var now: RunLoop.Instant { loop.clock.now }

    // MARK: Asking

    /// Asks the display for its next frame, unless a report is awaited already.
    ///
    /// - Returns: false if the display reports no frames of its screen.
    func request() -> Bool {
        if isInvalid { return false }
        return isAwaited || requestAgain()
    }

    /// Asks the display for its next frame, even if a report is awaited already.
    func requestAgain() -> Bool {
        // A display may report before this returns.
        isAwaited = true
        isAwaited = !isInvalid && display.requestScreenFrame()
        if isAwaited { addSource() }
        return isAwaited
    }

    private func addSource() {
        if source != nil { return }
        let source = RunLoop.Source(label: "screen frame") { [weak self] _ in self?.handOver() }
        loop.add(source, in: .common)
        self.source = source
        if reported != nil { source.signal() }
    }

    /// Called when the display reports a frame.
    func began(at instant: RunLoop.Instant, number: Int) {
        guard isAwaited else { return }
        reported = (instant, number)
        source?.signal()
        // A display may say so outside the loop's own turn.
        loop.wakeUp()
    }

    // MARK: Delivering

    /// Adds a link, which is called with the frames of the screen.
    ///
    /// - Returns: false if the display reports no frames of its screen.
    func add(_ link: FrameLink) -> Bool {
        links.removeAll { $0.link == nil }
        let isFirst = links.isEmpty
        // Frames that passed while nothing moved were not missed.
        if isFirst { last = nil }
        // What was asked for the links before may have been lost.
        guard isFirst ? requestAgain() : request() else { return false }
        links.append(WeakLink(link: link))
        return true
    }

    private func handOver() {
        guard let (instant, number) = reported.take() else { return }
        isAwaited = false
        links.removeAll { $0.link == nil }
        let called = links.compactMap(\.link).filter { $0.takes(loop.currentMode, at: instant, number: number) }
        let passed = last.map { number &- $0.number } ?? 1
        if let last, passed > 0, last.instant < instant { period = last.instant.duration(to: instant) / passed }
        last = (instant, number)
        if called.isEmpty { return }
        delivered += 1
        isInStep = true
        commit.counts.missedFrames += max(0, passed &- 1)
        let next = instant.advanced(by: period)
        for link in called { link.frame(at: instant, next: next) }
    }

    /// Counts a frame of the grid that a link has for itself.
    func gridFrame(at instant: RunLoop.Instant, skipped: Int) {
        isInStep = false
        last = nil
        if let lastOfGrid, instant <= lastOfGrid { return }
        lastOfGrid = instant
        delivered += 1
        commit.counts.missedFrames += skipped
    }
}
