// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

#if os(Linux) && !EXPORTS_ORIGINALS
internal import CoreFoundationRunLoop
internal import Foundation
internal import RunLoops
internal import Synchronization

/// Does the work of a ``Timer`` that Foundation's initialisers have made.
///
/// Thread safety: any thread.
final class TimerImplementation: TimerBody, @unchecked Sendable {
    // SAFETY: the timer owns this object, and whoever calls a method has the timer.
    unowned private let timer: Timer
    private let handler: @Sendable (Timer) -> Void
    /// Seconds between fires; 0 for a timer that fires once.
    private let interval: TimeInterval
    private let state: Mutex<State>

    private struct State {
        /// When the timer fires next, or when it last fired if it is no longer valid.
        var instant: RunLoops.RunLoop.Instant
        /// The date of `instant` on the wall clock; `nil` until a caller has set or read it.
        var date: Date?
        var tolerance: TimeInterval = 0
        var isInvalid = false
        /// The loop's own timer, from the time when this timer was first added to a loop until it is invalid.
        ///
        /// Weak: the loop keeps its own timer, which keeps this timer, until it is invalid or the thread ends.
        weak var native: RunLoops.RunLoop.Timer?
        var isAdded = false

        /// Whether the timer can still fire; a timer that was added becomes invalid with the loop's own timer.
        var isValid: Bool { !isInvalid && (!isAdded || native?.isValid == true) }

        mutating func set(_ instant: RunLoops.RunLoop.Instant, _ date: Date? = nil) {
            (self.instant, self.date) = (instant, date)
        }
    }

    init(
        _ timer: Timer, _ instant: RunLoops.RunLoop.Instant, _ date: Date?, interval: TimeInterval,
        _ handler: @escaping @Sendable (Timer) -> Void
    ) {
        (self.timer, self.handler, self.interval) = (timer, handler, interval)
        state = Mutex(State(instant: instant, date: date))
    }

    func fire() {
        guard isValid else { return }
        handler(timer)
        if interval == 0 { timer.invalidate() }
    }

    /// Called by the loop's own timer when it fires.
    private func fires(_ native: RunLoops.RunLoop.Timer) {
        let instant = native.deadline
        state.withLock { $0.set(instant, $0.instant == instant ? $0.date : nil) }
        handler(timer)
    }

    var absoluteFireDate: TimeInterval {
        get {
            state.withLock { state in
                if let native = state.native, native.isValid, native.deadline != state.instant {
                    state.set(native.deadline)
                }
                let date = state.date ?? Date(state.instant)
                // The same answer at each ask, although both clocks go on in between.
                state.date = date
                return date.timeIntervalSinceReferenceDate
            }
        }
        set {
            let date = Date(timeIntervalSinceReferenceDate: newValue)
            state.withLock { state in
                guard state.isValid else { return }
                state.set(RunLoops.RunLoop.Instant(after: Duration(until: date)), date)
                guard let native = state.native else { return }
                native.deadline = state.instant
                // An instant that has passed counts as the present one.
                state.instant = native.deadline
            }
        }
    }

    var timeInterval: TimeInterval { interval }

    var tolerance: TimeInterval {
        get { state.withLock { $0.tolerance } }
        set {
            let wished = Duration(seconds: newValue)
            state.withLock { state in
                state.tolerance = max(0, interval > 0 ? min(newValue, interval / 2) : newValue)
                // The loop has the same bounds.
                state.native?.tolerance = wished
            }
        }
    }

    var isValid: Bool { state.withLock { $0.isValid } }

    func invalidate() {
        let timer = timer
        let native = state.withLock { state -> RunLoops.RunLoop.Timer? in
            if let native = state.native, native.isValid, native.deadline != state.instant {
                state.set(native.deadline)
            }
            state.isInvalid = true
            return state.native.take()
        }
        // Releases the reference to this timer, which may be the last one, with no lock held.
        withExtendedLifetime(timer) { native?.invalidate() }
    }

    // MARK: In a loop

    /// Adds the timer to a mode; the first call makes the loop's own timer, which keeps this timer.
    func join(_ loop: RunLoops.RunLoop, _ mode: RunLoops.RunLoop.Mode) {
        state.withLock { state in
            guard state.isValid else { return }
            if let native = state.native {
                // As in Foundation, a timer of another loop stays there.
                loop.addUnlessElsewhere(native, in: mode)
                return
            }
            nonisolated(unsafe) let timer = timer
            let native = RunLoops.RunLoop.Timer.sendable(
                .at(state.instant, every: interval > 0 ? Duration(seconds: interval) : nil),
                tolerance: Duration(seconds: state.tolerance)
            ) { [self] native in withExtendedLifetime(timer) { fires(native) } }
            // A date that has passed is now the present one; read before the loop's thread can move it.
            let instant = native.deadline
            guard loop.add(native, in: mode) else { return }
            (state.native, state.isAdded, state.instant) = (native, true, instant)
        }
    }

    /// Removes the timer from a mode; after the last mode, the timer is as before it was added to a loop.
    func leave(_ loop: RunLoops.RunLoop, _ mode: RunLoops.RunLoop.Mode) {
        let timer = timer
        let left = state.withLock { state -> RunLoops.RunLoop.Timer? in
            guard let native = state.native, native.isValid else { return nil }
            let modes = loop.modes + [.common]
            let isInLoop = { modes.contains { loop.contains(native, in: $0) } }
            guard isInLoop() else { return nil }
            loop.remove(native, from: mode)
            if isInLoop() { return nil }
            state.set(native.deadline, state.instant == native.deadline ? state.date : nil)
            (state.native, state.isAdded) = (nil, false)
            return native
        }
        // Releases the reference to this timer, which may be the last one, with no lock held.
        withExtendedLifetime(timer) { left?.invalidate() }
    }

    /// Whether the timer is in a mode of a loop.
    func isIn(_ loop: RunLoops.RunLoop, _ mode: RunLoops.RunLoop.Mode) -> Bool {
        state.withLock { state in state.native.map { loop.contains($0, in: mode) } ?? false }
    }
}
#endif
