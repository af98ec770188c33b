// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

/// A call into a scenario's code.
package enum Callout: Hashable, Sendable {
    case source(Int)
    case descriptor(Int)
    case timer(Int)
    case observer(Int, activity: UInt)
    case schedule(source: Int, mode: String)
    case cancel(source: Int, mode: String)
}

/// The runner of the scenario: an engine reports every callout to it.
package protocol CalloutReceiver: AnyObject, Sendable {
    func receive(_ callout: Callout)
}

/// The fire date of a timer in the terms of the scenario; the protocol uses `nil` if there is no timer.
package enum SeenDate: Hashable, Sendable {
    /// Now or earlier. One engine clamps past dates when they are set and the other when they are used, so how far they
    /// are in the past is not compared.
    case due
    case slot(Int)
    /// A number of seconds more than an hour after the scenario's beginning.
    case far(Int)
    /// The date of a sentinel, the timer of ``Scenario/hasSentinels`` that never fires.
    case sentinel
}

/// A run loop on which a scenario can be run: the real one, this package's, or a faulty one to test the comparison
/// itself.
///
/// One object is for one run of one scenario, on the thread that made the object. `makeItems` is called first and
/// `finish` last, both on this thread. The methods under "any thread" may also be called by the other thread while the
/// loop's thread sleeps.
package protocol Engine: AnyObject, Sendable {
    static var name: String { get }
    init(_ scenario: Scenario, _ names: ModeNames, _ receiver: any CalloutReceiver)

    func makeItems()
    func run(_ mode: ModeName, _ limit: RunLimit, returnsAfterSource: Bool) -> Int
    /// Invalidates every item.
    func finish()

    // Any thread.
    func add(_ item: ItemName, to mode: ModeName)
    func remove(_ item: ItemName, from mode: ModeName)
    func contains(_ item: ItemName, in mode: ModeName) -> Bool
    func invalidate(_ item: ItemName)
    func isValid(_ item: ItemName) -> Bool
    func markCommon(_ mode: Int)
    func signal(_ source: Int)
    func isSignalled(_ source: Int) -> Bool
    func trigger(descriptor: Int)
    func wakeUp()
    func stop()
    func perform(in modes: [ModeName], _ body: @escaping @Sendable () -> Void)
    func setFireDate(ofTimer timer: Int, to date: FireDate)
    func nextFireDate(in mode: ModeName) -> SeenDate?
    /// Whether a timer of the current mode fires within half a second and is not being called already.
    func timerIsSoon() -> Bool
    var currentMode: String? { get }
    var isWaiting: Bool { get }
}

/// The raw mode strings of one run of a scenario.
///
/// Each run has names of its own, because the main loop never forgets a mode, and a mode's epoll descriptor keeps the
/// order in which descriptors became ready.
package struct ModeNames: Sendable {
    package let all: [String]

    private static let runs = Atomic(0)

    package init(_ scenario: Scenario) {
        let run = Self.runs.add(1, ordering: .relaxed).newValue
        all = (0..<scenario.modeCount).map { $0 == 0 ? "kCFRunLoopDefaultMode" : "m\($0).\(scenario.number).\(run)" }
    }

    /// The short name that traces use.
    package func short(_ raw: String) -> String {
        guard let index = all.firstIndex(of: raw) else { return raw == "kCFRunLoopCommonModes" ? "common" : raw }
        return Self.short(index)
    }

    package static func short(_ index: Int) -> String {
        index == 0 ? "default" : "m\(index)"
    }
}

/// Conversions between nanoseconds and the dates of a scenario.
package enum Dates {
    package static let far: Int64 = 3_600_000_000_000
    package static let sentinel: Int64 = 3 * far

    /// Returns the nanoseconds from the scenario's beginning to `date`; `now` is the nanoseconds from the beginning to
    /// the present, and `slot` the nanoseconds of a slot.
    package static func offset(_ date: FireDate, now: Int64, slot length: Int64) -> Int64 {
        switch date {
        case .past(let milliseconds): now - Int64(milliseconds) * 1_000_000
        case .now: now
        case .slot(let slot): Int64(slot) * length
        case .far(let seconds): far + Int64(seconds) * 1_000_000_000
        }
    }

    /// Returns the scenario's term for a date that is `offset` nanoseconds after the scenario's beginning; `now` is the
    /// nanoseconds from the beginning to the present, and `slot` those of a slot.
    package static func seen(_ offset: Int64, now: Int64, slot length: Int64) -> SeenDate {
        if offset <= now { return .due }
        if offset > 2 * far { return .sentinel }
        if offset > far / 2 { return .far(Int((offset - far + 500_000_000) / 1_000_000_000)) }
        return .slot(Int((offset + length / 2) / length))
    }
}
