// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

public import RunLoops

/// Calls a closure once a frame of the screen that shows an application.
///
/// Views are moved by ``View/animate(withDuration:delay:options:animations:completion:)``. A link is for what a program moves
/// itself, such as a game, a meter or a video:
///
/// ```swift
/// let link = DisplayLink(for: application) { frame in
///     meter.value = level(at: frame.time)
/// }
/// ```
///
/// A link is in step with the frames that the display reports, as animations are (``Display/requestScreenFrame()``), and
/// costs one wake-up for each of them. Where the display reports none, as a terminal, and while it is silent, the link is
/// called 60 times a second. It asks for frames in its own modes alone: a loop that runs in another mode is not woken.
///
/// A link works until it is invalidated or released, or until the application ends: keep it in a property of the object
/// that it draws.
///
/// Corresponds to the `CADisplayLink` of a window or a screen. `RunLoop.DisplayLink` of `RunLoopsKit` needs no application,
/// and has a rate of your choice on a fixed grid.
@MainActor public final class DisplayLink {
    /// One frame.
    public struct Frame: Hashable, Sendable {
        /// The beginning of the frame; the closure is called at this instant or later.
        public let time: RunLoop.Instant
        /// The expected beginning of the next frame; what is drawn in this frame should be ready before it.
        public let next: RunLoop.Instant
        /// How many frames passed since the previous call without a call of the closure; 0 for the first call.
        public let skipped: Int
        /// Whether the display has reported the frame; otherwise it is one of the 60 frames a second.
        public let isOfScreen: Bool
    }

    /// How many frames the closure was called for.
    public private(set) var delivered = 0
    /// How many frames passed between two calls, because the thread was busy or ran in other modes.
    ///
    /// Frames that pass while the link is paused are not counted.
    public private(set) var skipped = 0

    private let frames: ScreenFrames
    private let modes: [RunLoop.Mode]
    private let handler: (Frame) -> Void
    private var isInvalid = false
    /// Delivers the frames; `nil` while the link is paused, and after its end.
    private var link: FrameLink?

    /// Makes a link that calls `handler` in runs of `modes` of the application's loop, beginning with the next frame.
    ///
    /// - Parameters:
    ///   - application: The application whose display has the screen.
    ///   - modes: The modes in which frames are delivered.
    ///   - isPaused: Whether the link waits until ``isPaused`` is set to false.
    ///   - handler: Called with each frame that is not skipped.
    public init(
        for application: Application, in modes: [RunLoop.Mode] = [.common], isPaused: Bool = false,
        handler: @escaping (Frame) -> Void
    ) {
        frames = application.screenFrames
        self.modes = modes
        self.isPaused = isPaused
        self.handler = handler
        follow()
    }

    /// Whether the link delivers no frames and wakes nothing.
    public var isPaused: Bool { didSet { follow() } }

    /// Ends the link permanently: it delivers no more frames.
    ///
    /// If the link's own closure calls this, the frame of that call is the last. A second call does nothing.
    public func invalidate() {
        isInvalid = true
        follow()
    }

    private func follow() {
        if isPaused || isInvalid {
            link = nil
        } else if link == nil {
            link = FrameLink(frames, in: modes) { [weak self] frame in self?.deliver(frame) }
        }
    }

    private func deliver(_ frame: Frame) {
        delivered += 1
        skipped += frame.skipped
        handler(frame)
    }
}
