// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

#if Window
internal import CLoopUIWayland
internal import LoopUI
internal import RunLoops

/// The frames of the window's output, of which the compositor reports each that is asked for (`wl_surface.frame`).
///
/// At most one report is awaited, also if the compositor sends none because the window is hidden.
@MainActor final class FrameCallbackClock {
    private let connection: CompositorConnection
    private let surface: CompositorSurface
    private let queue: InputQueue
    private var times = FrameTimes()
    /// The number of frames in a thousand seconds, by output.
    private var rates: [OpaquePointer: Int] = [:]
    /// The output that the window was last moved to.
    private var output: OpaquePointer?
    private var callback: OpaquePointer?
    /// Whether a frame was asked for before the window had any.
    private var isEarly = false

    init(_ connection: CompositorConnection, _ surface: CompositorSurface, _ queue: InputQueue) {
        self.connection = connection
        self.surface = surface
        self.queue = queue
    }

    /// Asks for the next frame; the request is sent before the loop sleeps.
    func request() {
        if callback != nil { return }
        isEarly = !surface.hasContent
        if isEarly { return }
        callback = surface.askForFrame()
        connection.listen(to: callback, as: .callback)
    }

    /// Asks for the frame that was asked for too early; called when the window has shown something.
    func shown() { if isEarly { request() } }

    /// Notes the rate of an output.
    func setRate(_ rate: Int, of output: OpaquePointer) { rates[output] = rate }

    /// Notes that the window is on an output.
    func enter(_ output: OpaquePointer) { self.output = output }

    /// Handles a callback; returns false if it is not one of the clock's.
    func done(_ object: OpaquePointer, at milliseconds: UInt32) -> Bool {
        guard object == callback else { return false }
        wl_callback_destroy(object)
        callback = nil
        let rate = output.flatMap { rates[$0] } ?? rates.values.first ?? 0
        let frame = times.began(at: milliseconds, now: RunLoop.Instant.now, rate: rate)
        queue.screenFrameBegan(at: frame.instant, number: frame.number)
        return true
    }
}

/// Numbers frames by their times, since the compositor does not number them.
struct FrameTimes {
    /// The compositor's time of the last frame, in milliseconds from an unknown beginning.
    private var last: UInt32?
    /// The time from the first frame to the last, in nanoseconds.
    private var elapsed: Int64 = 0
    private var number = 0
    /// The loop's time of the first frame, as the report with the least delay says it.
    private var start: Int64 = 0

    /// Returns the beginning of a frame on the loop's clock, which is not later than `now`, and its number.
    ///
    /// The two clocks may differ and drift. The report that came with the least delay says how far they are apart.
    ///
    /// - Parameters:
    ///   - milliseconds: The compositor's time of the frame.
    ///   - now: The time at which the report was read.
    ///   - rate: The number of frames of the output in a thousand seconds; others than 1 to 1,000 in a second count as 60.
    mutating func began(
        at milliseconds: UInt32, now: RunLoop.Instant, rate: Int
    ) -> (instant: RunLoop.Instant, number: Int) {
        let period = 1_000_000_000_000 / Int64((1_000...1_000_000).contains(rate) ? rate : 60_000)
        let passed = last.map { Int64(Int32(bitPattern: milliseconds &- $0)) * 1_000_000 }
        last = milliseconds
        // No frame for long, or a clock that was set: the drift since then is not known.
        guard let passed, (0...1_000_000_000).contains(passed) else {
            number += max(1, Int(((passed ?? 0) + period / 2) / period))
            (elapsed, start) = (0, now.nanoseconds)
            return (now, number)
        }
        number += max(1, Int((passed + period / 2) / period))
        elapsed += passed
        // Clocks drift by less than a thousandth.
        start = min(now.nanoseconds - elapsed, start + passed / 1000)
        return (RunLoop.Instant(nanoseconds: start + elapsed), number)
    }
}
#endif
