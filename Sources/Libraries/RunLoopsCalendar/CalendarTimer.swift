// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

internal import CRunLoopsKernel
public import FoundationEssentials
internal import RunLoops
internal import RunLoopsLibC

/// Calls a closure at the dates of a schedule, again and again, on the thread of a run loop.
///
/// The dates are those of the wall clock: they stay valid when the clock is set and when the machine sleeps. A timer
/// serves the dates after the moment at which it was added to a loop, each when it has come and one of the timer's
/// modes runs, never earlier. The schedule's ``CalendarSchedule/Rules`` say what happens to dates that have passed by
/// then, and what a change of the clock does.
///
/// A timer sleeps from date to date: it wakes no thread in between. The loop retains its timers, so that the program
/// does not have to. The timer works until it is invalidated or removed from its modes. It finds its next date when it
/// has served one. A program that changes the rules of its zones, such as `TZ`, calls ``lookAtClock()``.
///
/// Like ``/RunLoops/RunLoop/Timer``, of which it is made, it comes in three kinds: with a plain closure, which stays on the
/// thread that makes the timer; with `sendable`, for any loop; with `mainActor`, for the main loop.
///
/// Thread safety: all members may be used by any thread. The closure is called on the loop's thread with no lock held.
public final class CalendarTimer: @unchecked Sendable, CustomStringConvertible {
    private typealias Handler = (CalendarTimer, Date) -> Void

    /// The schedule whose dates the timer serves.
    public let schedule: CalendarSchedule
    /// The name of the timer in descriptions and tools: its label, or the place in the code where it was made.
    public let label: String
    private let tolerance: Duration
    /// The one thread whose loop may take the timer, by the kernel's number; 0 for any.
    private let allowedThread: Int32
    private let lock = Lock()
    // Guarded by the lock, which is taken before the locks of the loop and never during a callout.
    /// `nil` once the timer is invalid.
    @exclusivity(unchecked) private var handler: Handler?
    // The loop keeps both, and their closures keep this object: without a loop there is no circle.
    @exclusivity(unchecked) private weak var timer: RunLoop.Timer?
    @exclusivity(unchecked) private weak var clockWatch: RunLoop.DescriptorSource?
    /// The second up to which all dates were served or passed over.
    @exclusivity(unchecked) private var doneUntil = Int.min
    /// The next date; the last second that there is after the schedule's last date.
    @exclusivity(unchecked) private var due = Int.max

    // MARK: Making

    /// A timer whose closure runs on the thread that makes it, and may use that thread's state.
    ///
    /// - Parameters:
    ///   - schedule: The dates, and the rules.
    ///   - tolerance: How much later than its date the timer may fire; it never fires earlier. The loop uses the tolerance to
    ///     serve several timers with one wake-up.
    ///   - label: The name in descriptions and tools; where the timer was made, if `nil`.
    ///   - fileID: The file that makes the timer.
    ///   - line: The line that makes the timer.
    ///   - handler: Called with the timer and the date of the schedule that is served, which is never in the future.
    ///
    /// Adding the timer to the loop of another thread traps.
    public convenience init(
        _ schedule: CalendarSchedule, tolerance: Duration = .zero, label: String? = nil,
        fileID: StaticString = #fileID, line: UInt = #line, handler: @escaping (CalendarTimer, Date) -> Void
    ) {
        self.init(schedule, tolerance, label ?? "\(fileID):\(line)", allowedThread: SystemCalls.threadID, handler)
    }

    /// A timer whose closure may run on any thread: it can be added to any loop.
    ///
    /// The parameters are the same as for ``init(_:tolerance:label:fileID:line:handler:)``.
    public static func sendable(
        _ schedule: CalendarSchedule, tolerance: Duration = .zero, label: String? = nil,
        fileID: StaticString = #fileID, line: UInt = #line, handler: @escaping @Sendable (CalendarTimer, Date) -> Void
    ) -> CalendarTimer {
        CalendarTimer(schedule, tolerance, label ?? "\(fileID):\(line)", allowedThread: 0, handler)
    }

    /// A timer whose closure runs on the main actor: it can be added to the main loop, from any thread.
    ///
    /// The parameters are the same as for ``init(_:tolerance:label:fileID:line:handler:)``.
    public static func mainActor(
        _ schedule: CalendarSchedule, tolerance: Duration = .zero, label: String? = nil,
        fileID: StaticString = #fileID, line: UInt = #line, handler: @escaping @MainActor (CalendarTimer, Date) -> Void
    ) -> CalendarTimer {
        CalendarTimer(
            schedule, tolerance, label ?? "\(fileID):\(line)", allowedThread: SystemCalls.mainThreadID
        ) { timer, date in
            MainActor.assumeIsolated { handler(timer, date) }
        }
    }

    private init(
        _ schedule: CalendarSchedule, _ tolerance: Duration, _ label: String, allowedThread: Int32,
        _ handler: @escaping Handler
    ) {
        self.schedule = schedule
        self.tolerance = tolerance
        self.label = label
        self.allowedThread = allowedThread
        self.handler = handler
    }

    // MARK: Asking and changing

    /// Whether the timer can still fire.
    ///
    /// An invalid timer never becomes valid again.
    public var isValid: Bool { lock.withLock { handler != nil } }

    /// The date that the timer waits for; `nil` if it is invalid or in no loop.
    ///
    /// Inside the closure this is already the following date, even if that has passed.
    public var nextDate: Date? {
        lock.withLock {
            handler == nil || timer == nil || due == .max ? nil : Date(timeIntervalSince1970: Double(due))
        }
    }

    /// Removes the timer from its loop permanently, and releases its closure.
    ///
    /// Allowed everywhere, also inside the timer's own callout, which ends normally. A second call does nothing.
    /// Thread safety: any thread; the call does not wait for a callout under way on the loop's thread.
    public func invalidate() {
        let released = lock.withLock { () -> (Handler?, RunLoop.Timer?, RunLoop.DescriptorSource?) in
            defer { handler = nil }
            return (handler, timer, clockWatch)
        }
        released.1?.invalidate()
        released.2?.invalidate()
        // What was released goes when no lock is held.
        withExtendedLifetime(released) {}
    }

    /// Makes the loop read its clock and compute the next date again, in its next turn or within the tolerance.
    ///
    /// A timer with the rule ``CalendarSchedule/ClockSetBack/again(ifBehindBy:)`` does so by itself when the clock is set.
    /// Call it when the rules of the zone have changed, and in virtual time, where the kernel does not know that a test has
    /// set the clock.
    public func lookAtClock() {
        // What fires looks. A date that has passed counts as the present one of the loop's clock, which may be a test's.
        lock.withLock { timer?.deadline = RunLoop.Instant(nanoseconds: .min, clock: .realtime) }
    }

    /// Kind, label and state in one line.
    public var description: String { "<CalendarTimer \(label)>{\(isValid ? "valid" : "invalid"), \(schedule)}" }

    // MARK: Places

    /// Adds the timer; returns whether it is in the mode now.
    func add(to loop: RunLoop, in mode: RunLoop.Mode) throws(RunLoop.SystemCallError) -> Bool {
        requireAllowedThread(allowedThread, of: self, in: loop.threadID)
        return try lock.withLock { () throws(RunLoop.SystemCallError) in
            guard handler != nil else { return false }
            let item = timer ?? makeTimer(Self.second(loop.now(.realtime)))
            guard loop.add(item, in: mode) else { return false }
            guard case .again = schedule.rules.clockSetBack else { return true }
            do throws(RunLoop.SystemCallError) {
                return try loop.add(watchOfClock(), in: mode)
            } catch {
                loop.remove(item, from: mode)
                throw error
            }
        }
    }

    func remove(from loop: RunLoop, in mode: RunLoop.Mode) {
        let (timer, clockWatch) = lock.withLock { (self.timer, self.clockWatch) }
        if let timer { loop.remove(timer, from: mode) }
        if let clockWatch { loop.remove(clockWatch, from: mode) }
    }

    func isIn(_ loop: RunLoop, _ mode: RunLoop.Mode) -> Bool {
        lock.withLock { timer }.map { loop.contains($0, in: mode) } ?? false
    }

    /// With the lock held.
    private func makeTimer(_ now: Int) -> RunLoop.Timer {
        findNextDate(now, leavingOut: now)
        // When the timer was added, the allowed thread was checked against the thread that made it.
        let made = RunLoop.Timer.sendable(.at(dueInstant), tolerance: tolerance, label: label) { self.fires($0) }
        timer = made
        return made
    }

    /// With the lock held.
    private func watchOfClock() throws(RunLoop.SystemCallError) -> RunLoop.DescriptorSource {
        if let clockWatch { return clockWatch }
        let descriptor = try check("timerfd_create", rl_timerfd_create(CLOCK_REALTIME))
        let made = RunLoop.DescriptorSource.sendable(descriptor, closes: true, label: label) { source, _ in
            self.clockWasSet(source.descriptor)
        }
        // A timer that is not armed does not notice the setting; the last nanosecond that it can count never comes. The one
        // error that can be is ECANCELED: the clock is set at this moment, and the timer armed all the same.
        _ = rl_timerfd_set(descriptor, .max - 1, true)
        clockWatch = made
        return made
    }

    // MARK: Firing

    /// The loop's timer fires: its date has come, somebody wants a look, or the clock was set back at this moment.
    private func fires(_ timer: RunLoop.Timer) {
        let (handler, date) = lock.withLock { () -> (Handler?, Int?) in
            let date = takeDate(Self.second(RunLoop.ClockID.realtime.threadNow))
            // The loop's timer fires once; restarted, it takes any date, also an earlier one.
            timer.restart(after: .zero)
            timer.deadline = dueInstant
            return (self.handler, date)
        }
        if let handler, let date { handler(self, Date(timeIntervalSince1970: Double(date))) }
    }

    /// The kernel says that somebody has set the clock.
    private func clockWasSet(_ descriptor: CInt) {
        var expirations: UInt64 = 0
        // ECANCELED is the answer to be expected; EAGAIN in a test that has only said so. Either way the clock is looked at.
        _ = rl_read(descriptor, &expirations, MemoryLayout.size(ofValue: expirations))
        lock.withLock {
            findNextDate(Self.second(RunLoop.ClockID.realtime.threadNow))
            timer?.deadline = dueInstant
        }
    }

    /// The date to be served now, which is then done with; `nil` if there is none.
    ///
    /// With the lock held.
    private func takeDate(_ now: Int) -> Int? {
        guard due <= now else {
            findNextDate(now)
            return nil
        }
        var date = due
        if schedule.rules.passedDates != .each, let latest = schedule.latest(notAfter: now) { date = max(date, latest) }
        findNextDate(now, leavingOut: date)
        guard case .skip(let limit) = schedule.rules.passedDates else { return date }
        return .seconds(now - date) <= limit ? date : nil
    }

    /// Finds the next date, with all dates up to `second` done.
    ///
    /// With the lock held.
    private func findNextDate(_ now: Int, leavingOut second: Int = .min) {
        doneUntil = max(doneUntil, second)
        if case .again(let distance) = schedule.rules.clockSetBack, doneUntil > now,
            .seconds(doneUntil - now) >= distance
        {
            doneUntil = now
        }
        due = schedule.next(after: doneUntil) ?? .max
    }

    /// The second of the wall clock, or of a test's, that an instant is in.
    private static func second(_ nanoseconds: Int64) -> Int { Int(nanoseconds.flooredQuotient(by: 1_000_000_000)) }

    /// The next date as an instant; a date that the clock cannot count never comes.
    private var dueInstant: RunLoop.Instant {
        let (nanoseconds, overflow) = Int64(due).multipliedReportingOverflow(by: 1_000_000_000)
        return RunLoop.Instant(nanoseconds: overflow ? .max : nanoseconds, clock: .realtime)
    }
}
