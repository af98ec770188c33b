// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

internal import CRunLoopsKernel
@preconcurrency internal import CoreFoundation
internal import RunLoopsLibC

/// Runs single turns of Foundation's main loop, with public functions of Core Foundation alone.
///
/// Observers count the runs in progress, and stop a run of this object when the run is about to sleep.
@MainActor
final class FoundationTurns {
    let loop: CFRunLoop
    /// Called when ``isRunByProgram`` has changed.
    var runByProgramChanged: () -> Void = {}
    private var observers: [CFRunLoopObserver?] = []
    /// The value of `runs` while the innermost run of this object is the innermost run of all; 0 if this object has no run.
    private var ownRun = 0
    /// The number of runs in progress in observed modes.
    private var runs = 0
    /// The descriptor that the innermost run of ``turn(_:_:)`` would sleep on; `nil` if it is not known.
    private var descriptor: CInt?
    /// How often the innermost run of ``turn(_:_:)`` has continued because an item was ready.
    private var turnsInARow = 0

    /// - Precondition: no run of Foundation's main loop is in progress that goes on.
    init(_ loop: CFRunLoop) {
        self.loop = loop
        // Entries first of all: the other observers of an entry may run the loop, or ask whose run this is.
        observe([.entry], order: .min)
        // Ends and sleeps last of all: the others are called before a turn ends.
        observe([.beforeWaiting, .exit], order: .max)
        observe(kCFRunLoopCommonModes)
    }

    private func observe(_ activities: CFRunLoopActivity, order: CFIndex) {
        var context = CFRunLoopObserverContext()
        // Not counted: this object is never released.
        context.info = Unmanaged.passUnretained(self).toOpaque()
        let observer = CFRunLoopObserverCreate(
            nil, activities.rawValue, true, order,
            { _, activity, info in
                MainActor.assumeIsolated {
                    // SAFETY: the object above.
                    Unmanaged<FoundationTurns>.fromOpaque(info.unsafelyUnwrapped).takeUnretainedValue().passes(activity)
                }
            }, &context)
        observers.append(observer)
    }

    /// Observes a mode that is not a common mode, so that turns in it end.
    func observe(_ mode: CFString) { for observer in observers { CFRunLoopAddObserver(loop, observer, mode) } }

    private func passes(_ activity: CFRunLoopActivity) {
        switch activity {
        case .entry: count(+1)
        case .exit: count(-1)
        // A run that the program has begun inside a callout sleeps as ever.
        default: if runs == ownRun, !goesOn() { CFRunLoopStop(loop) }
        }
    }

    private func count(_ change: Int) {
        let was = isRunByProgram
        runs += change
        if isRunByProgram != was { runByProgramChanged() }
    }

    /// Whether the run that is about to sleep has a ready item, and should continue with it.
    ///
    /// Stopping the run causes a wake-up, which a run nested in the next callout would find in place of the ready item.
    private func goesOn() -> Bool {
        guard let descriptor, turnsInARow < Self.maxTurns, rl_poll(descriptor, Int16(POLLIN)) != 0 else { return false }
        turnsInARow += 1
        return true
    }

    /// The maximum number of turns in a row: a timer that is always due must not keep this package's loop from running.
    private static var maxTurns: Int { 16 }

    /// Whether the program itself runs Foundation's loop, with this package's loop inside that run.
    var isRunByProgram: Bool { runs > ownRun }

    // MARK: Turns

    /// Runs until a source was performed or work of the main queue was done, or until the run would sleep.
    ///
    /// If the run would sleep, it calls the observers of `beforeWaiting` and `afterWaiting`, and ends. Returns whether a
    /// source was performed or work of the main queue was done.
    ///
    /// - Parameter descriptor: The descriptor that the run would sleep on; `nil` if it is not known.
    func turn(_ mode: CFString, _ descriptor: CInt?) -> Bool {
        let outer = (self.descriptor, turnsInARow)
        (self.descriptor, turnsInARow) = (descriptor, 0)
        defer { (self.descriptor, turnsInARow) = outer }
        return run(mode, for: Self.unlimited)
    }

    /// Makes one turn without a sleep: blocks, signalled sources, and one ready item.
    ///
    /// Returns whether a source was performed, or work of the main queue done.
    func poll(_ mode: CFString) -> Bool { run(mode, for: -1) }

    private func run(_ mode: CFString, for seconds: CFTimeInterval) -> Bool {
        let outer = ownRun
        ownRun = runs + 1
        defer { ownRun = outer }
        return CFRunLoopRunInMode(mode, seconds, true) == .handledSource
    }

    /// A time limit so long that Core Foundation makes no timer for it; a timer would end the run.
    private static var unlimited: CFTimeInterval { 1e10 }

    /// The time until the mode's first timer; `nil` if it has none.
    func timeToNextTimer(in mode: CFString) -> Duration? {
        let date = CFRunLoopGetNextTimerFireDate(loop, mode)
        // No date is 0. Seconds of a century, in which a program has looked again.
        return date == 0 ? nil : .seconds(min(max(0, date - CFAbsoluteTimeGetCurrent()), 3e9))
    }
}
