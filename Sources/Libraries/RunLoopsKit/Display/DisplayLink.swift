// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

public import RunLoops

extension RunLoop {
    /// Calls a closure once a frame, at a rate of your choice.
    ///
    /// Frames are on a fixed grid. A late call does not shift the next frame. Frames that pass while the thread is busy
    /// are skipped and counted; the link never makes up for them. Links of the same rate are in step, on any thread.
    /// While a link is paused, or while its modes do not run, the link wakes no thread.
    ///
    /// Corresponds to `CADisplayLink`, on a timer in place of a screen's refresh.
    ///
    /// A link receives its modes when it is made. It works until it is invalidated or released: keep it in a property of
    /// the object that it draws. `runloop doctor` reports a link that is released before its first frame.
    ///
    /// Thread safety: belongs to the thread that makes it.
    public final class DisplayLink {
        /// One frame.
        public struct Frame: Hashable, Sendable {
            /// The number of frames that were due since the link was made, skipped frames included; the first frame has
            /// number 0.
            public let number: Int
            /// The beginning of the frame; the closure is called at this instant or later.
            public let time: RunLoop.Instant
            /// The beginning of the next frame; what is drawn in this frame should be ready before it.
            public let next: RunLoop.Instant
            /// How many frames were skipped just before this one.
            public let skipped: Int
        }

        /// How many frames the closure was called for.
        public private(set) var delivered = 0
        /// How many frames passed while the thread was busy.
        public private(set) var skipped = 0

        private var grid: FrameGrid
        /// The last frame that was delivered, or that began before the link was started, on the present grid.
        private var last: Int64 = 0
        private let handler: (Frame) -> Void
        private var alarm: Alarm?

        /// Makes a link that calls `handler` in runs of `modes` of the calling thread's loop, beginning with the next
        /// frame.
        ///
        /// - Parameters:
        ///   - framesPerSecond: From 0.001 to 1,000,000; thousandths count.
        ///   - modes: The modes in which frames are delivered.
        ///   - isPaused: Whether the link waits until ``isPaused`` is set to false.
        ///   - handler: Called with each frame that is not skipped.
        ///
        /// - Precondition: the rate is in that range.
        public init(
            framesPerSecond: Double, in modes: [RunLoop.Mode] = [.common], isPaused: Bool = false,
            handler: @escaping (Frame) -> Void
        ) {
            grid = FrameGrid(framesPerSecond: framesPerSecond)
            self.framesPerSecond = framesPerSecond
            self.isPaused = isPaused
            self.handler = handler
            alarm = Alarm(in: modes, label: "display link") { [weak self] in self?.frameIsDue() }
            if !isPaused { start() }
        }

        deinit {
            if let alarm, alarm.isSet, delivered + skipped == 0 { alarm.reportRelease(of: "display link") }
        }

        /// The rate; a new rate counts from the next frame of its own grid.
        ///
        /// - Precondition: the rate is from 0.001 to 1,000,000.
        public var framesPerSecond: Double {
            willSet { alarm?.requireOwn() }
            didSet {
                grid = FrameGrid(framesPerSecond: framesPerSecond)
                if !isPaused { start() }
            }
        }

        /// Whether the link delivers no frames; frames that pass meanwhile are not counted.
        public var isPaused: Bool {
            willSet { alarm?.requireOwn() }
            didSet {
                if isPaused == oldValue { return }
                if isPaused { alarm?.clear() } else { start() }
            }
        }

        /// Ends the link permanently: it delivers no more frames.
        ///
        /// If the link's own callout calls this, the frame of that callout is the last. A second call does nothing.
        public func invalidate() {
            alarm?.requireOwn()
            alarm = nil
        }

        private func start() {
            guard let alarm else { return }
            last = grid.index(at: alarm.now.nanoseconds)
            setAlarm(alarm)
        }

        /// Sets the alarm to the first frame that has not begun.
        private func setAlarm(_ alarm: Alarm) {
            let next = max(grid.index(at: alarm.now.nanoseconds), last) + 1
            alarm.set(RunLoop.Instant(nanoseconds: grid.start(of: next)))
        }

        private func frameIsDue() {
            guard let alarm, !isPaused else { return }
            let index = grid.index(at: alarm.now.nanoseconds)
            guard index > last else { return setAlarm(alarm) }
            let missed = Int(index - last - 1)
            skipped += missed
            let frame = Frame(
                number: delivered + skipped, time: RunLoop.Instant(nanoseconds: grid.start(of: index)),
                next: RunLoop.Instant(nanoseconds: grid.start(of: index + 1)), skipped: missed)
            delivered += 1
            last = index
            handler(frame)
            // The handler may have paused or invalidated the link, or changed the rate.
            if !isPaused, self.alarm != nil { setAlarm(alarm) }
        }
    }
}
