// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

#if Window
internal import CLoopUIXCB
internal import LoopUI
internal import RunLoops

/// The frames of the window's screen, which the X server counts and reports one by one (extension Present).
///
/// Each report is asked for, so the server sends none while nothing moves.
@MainActor final class PresentClock {
    private let server: ServerWindow
    private let queue: InputQueue
    /// The number of the last frame that was reported.
    private var last: UInt64?
    /// The number of the last request.
    private var serial: UInt32 = 0
    private var isAwaited = false

    /// A clock; nil if the server does not report frames.
    init?(_ server: ServerWindow, _ queue: InputQueue) {
        guard server.numbers.frames != 0 else { return nil }
        self.server = server
        self.queue = queue
        server.selectFrames()
    }

    /// Asks for the frame after the last one; for the present frame if the next one has passed already, or if a report
    /// was lost.
    func request() {
        let next = isAwaited ? 0 : last.map { $0 &+ 1 } ?? 0
        serial &+= 1
        isAwaited = true
        server.askForFrame(next, serial: serial)
    }

    /// Called when the server reports a frame.
    ///
    /// - Parameters:
    ///   - serial: The number of the request.
    ///   - microseconds: The time at which the frame began, on the monotonic clock of the server's machine.
    ///   - number: The number of the frame.
    func reported(serial: UInt32, microseconds: UInt64, number: UInt64) {
        guard isAwaited, serial == self.serial else { return }
        isAwaited = false
        last = number
        let now = RunLoop.Instant.now
        queue.screenFrameBegan(at: Self.instant(microseconds, now: now), number: Int(number % (1 << 62)))
    }

    /// Returns the beginning of a frame; the present instant if the server uses another clock, as a server on another
    /// machine does.
    static func instant(_ microseconds: UInt64, now: RunLoop.Instant) -> RunLoop.Instant {
        let (nanoseconds, isTooLarge) = Int64(clamping: microseconds).multipliedReportingOverflow(by: 1000)
        let isNear = !isTooLarge && (-100_000_000...0).contains(nanoseconds - now.nanoseconds)
        return isNear ? RunLoop.Instant(nanoseconds: nanoseconds) : now
    }
}
#endif
