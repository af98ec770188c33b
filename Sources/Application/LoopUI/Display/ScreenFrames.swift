// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

internal import RunLoops
internal import RunLoopsConcurrency

/// The frames of the display's screen: asks the display for each, and hands it to the links that are wanted then.
@MainActor package final class ScreenFrames {
    /// How many frames were delivered, of the screen or of the grid.
    package private(set) var delivered = 0
    /// Whether the last frame that was delivered was one of the screen.
    package private(set) var isInStep = false

    private let display: any Display
    private let loop: RunLoop
    private let commit: CommitTransaction
    private var links: [WeakLink] = []
    /// Hands a reported frame over, outside of what the display does; made with the first frame that a display promises.
    private var source: RunLoop.Source?
    /// The frame that was reported and not handed over yet.
    private var reported: (instant: RunLoop.Instant, number: Int)?
    /// The number of the last frame that was handed over, from which missed frames are counted.
    private var last: Int?
    /// When the last frame of the grid began: several links are in step.
    private var lastOfGrid: RunLoop.Instant?
    /// Whether the display owes a report.
    private(set) var isAwaited = false
    private var isInvalid = false

    private struct WeakLink {
        weak var link: FrameLink?
    }

    init(_ display: any Display, _ loop: RunLoop, _ commit: CommitTransaction) {
        self.display = display
        self.loop = loop
        self.commit = commit
    }

    /// Ends it for good.
    func invalidate() {
        isInvalid = true
        links = []
        reported = nil
        source?.invalidate()
    }

    var now: RunLoop.Instant { loop.clock.now }

    // MARK: Asking

    /// Asks the display for its next frame, unless that was done.
    ///
    /// - Returns: false if the display hears of no frames.
    func request() -> Bool {
        if isInvalid { return false }
        return isAwaited || requestAgain()
    }

    /// Asks the display for its next frame, although it may owe a report.
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

    /// The display reports a frame.
    func began(at instant: RunLoop.Instant, number: Int) {
        guard isAwaited else { return }
        reported = (instant, number)
        source?.signal()
        // A display may say so outside the loop's own turn.
        loop.wakeUp()
    }

    // MARK: Delivering

    /// Has a link called with the frames of the screen.
    ///
    /// - Returns: false if the display hears of no frames.
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
        let called = links.compactMap(\.link).filter { $0.takes(loop.currentMode, at: instant) }
        let missed = last.map { number &- $0 &- 1 } ?? 0
        last = number
        if called.isEmpty { return }
        delivered += 1
        isInStep = true
        commit.counts.missedFrames += max(0, missed)
        for link in called { link.frame(at: instant) }
    }

    /// A frame of the grid, which each link has for itself.
    func gridFrame(at instant: RunLoop.Instant, skipped: Int) {
        isInStep = false
        last = nil
        if let lastOfGrid, instant <= lastOfGrid { return }
        lastOfGrid = instant
        delivered += 1
        commit.counts.missedFrames += skipped
    }
}
