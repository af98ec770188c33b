// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

internal import RunLoops

/// A timer that is in its loop only while it is set, and can be set again and again.
///
/// An alarm that is not set is in no mode: it wakes no thread, and keeps no mode alive. Belongs to the thread that
/// makes it.
final class Alarm {
    private let loop = RunLoop.current
    private let modes: [RunLoop.Mode]
    /// The timer while it is in no mode.
    ///
    /// While the alarm is set, the loop alone holds the timer, so that the end of the loop releases the alarm's owner.
    private var resting: RunLoop.Timer?
    private weak var added: RunLoop.Timer?
    private weak var keeper: Keeper?
    private let action = Action()
    private let label: String

    /// What the timer's closure holds of the alarm.
    private final class Action {
        var run: () -> Void = {}
        var isSet = false
        var isRunning = false
        weak var alarm: Alarm?
    }

    /// Holds the owner of an alarm that is set; held by the timer's closure alone.
    private final class Keeper {
        var owner: AnyObject?
    }

    /// `run` may set the alarm anew; it must not hold the alarm.
    init(in modes: [RunLoop.Mode], label: String, run: @escaping () -> Void) {
        requireModes(modes)
        self.modes = modes
        self.label = label
        action.run = run
        let (action, loop, keeper) = (action, loop, Keeper())
        self.keeper = keeper
        // Repeating, so that the timer stays valid: the interval never comes.
        resting = RunLoop.Timer(.after(.zero, every: .seconds(1 << 32)), label: label) { timer in
            let owner = keeper.owner
            keeper.owner = nil
            action.isSet = false
            action.isRunning = true
            action.run()
            action.isRunning = false
            if !action.isSet {
                for mode in modes { loop.remove(timer, from: mode) }
                action.alarm?.resting = timer
            }
            withExtendedLifetime(owner) {}
        }
        action.alarm = self
    }

    deinit { (resting ?? added)?.invalidate() }

    /// Has a recorder of the loop know that the owner was released while the alarm was set; on the alarm's thread.
    func reportRelease(of owner: String) {
        if loop.threadID == SystemCalls.threadID { loop.callOut(part: ItemLabel("released at once: \(owner)")) {} }
    }

    /// Traps on another thread than the alarm's: called first by each public method of the object that has the alarm.
    func requireOwn() { loop.requireOwn(label) }

    /// The present instant of the loop, whose clock may be a test's.
    var now: RunLoop.Instant { loop.now }

    var isSet: Bool { action.isSet }

    /// Lets the alarm ring at `instant`, and not at the instant set before.
    ///
    /// While the alarm is set, its loop keeps `owner`.
    func set(_ instant: RunLoop.Instant, keeping owner: AnyObject? = nil) {
        requireOwn()
        // Without a timer the thread is ending, and its loop has gone.
        guard let timer = resting ?? added else { return }
        // A timer passes over a date set in its callout that is not after the date being served.
        timer.deadline = action.isRunning ? max(instant, now.advanced(by: .nanoseconds(1))) : instant
        if action.isSet { return }
        action.isSet = true
        keeper?.owner = owner
        for mode in modes { loop.add(timer, in: mode) }
        (added, resting) = (timer, nil)
    }

    func clear() {
        requireOwn()
        guard action.isSet else { return }
        action.isSet = false
        let owner = keeper?.owner
        keeper?.owner = nil
        guard let timer = added else { return }
        resting = timer
        for mode in modes { loop.remove(timer, from: mode) }
        withExtendedLifetime(owner) {}
    }
}

extension RunLoop {
    /// Traps unless this is a loop of the calling thread.
    ///
    /// The compiler finds such a mistake in language mode 6 alone.
    ///
    /// - Parameter object: A word for the object that belongs to the loop's thread.
    func requireOwn(_ object: String) {
        // By the number: a test may have replaced the thread's loop, and at the thread's end the loop has gone first.
        require(
            threadID == SystemCalls.threadID,
            "A \(object) was used by another thread than the one that made it: post the call with perform of that thread's loop, or make one for each thread."
        )
    }

    /// The present instant on the loop's own clock.
    var now: Instant { Instant(nanoseconds: now(.monotonic)) }
}
