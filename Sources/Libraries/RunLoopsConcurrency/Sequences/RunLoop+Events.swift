// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

public import RunLoops

extension RunLoop {
    /// A sequence of the instants at which a repeating timer was due.
    ///
    /// The loop keeps the timer, and a late fire does not shift the later ones. While no task waits, the last fire is
    /// kept.
    ///
    /// - Parameters:
    ///   - interval: The time between two fires, and before the first fire.
    ///   - tolerance: How much later than due the timer may fire; it never fires earlier.
    ///   - base: The clock of the timer.
    ///   - mode: The mode that the timer is in; `.common` for all common modes.
    ///   - buffering: Which fires are kept while no task waits.
    ///
    /// - Precondition: `interval` is at least one nanosecond.
    public func ticks(
        every interval: Duration, tolerance: Duration = .zero, clock base: ClockID = .monotonic,
        in mode: Mode = .common, buffering: EventSequence<Instant>.Buffering = .newest(1)
    ) -> EventSequence<Instant> {
        EventSequence(buffering: buffering) { emitter in
            let first = clock(base).now.advanced(by: interval)
            let timer = Timer.starting(at: first, every: interval, tolerance: tolerance, label: "ticks") { timer in
                emitter.emit(timer.deadline)
            }
            add(timer, in: mode)
            return .stopping(timer)
        }
    }

    /// A sequence of the activities of the loop's runs.
    ///
    /// The loop does not wait for the task: the sequence reports what the loop has passed, not where the loop is now.
    /// While no task waits, the last 64 activities are kept.
    ///
    /// - Parameters:
    ///   - activities: The activities to report.
    ///   - order: The order of the observer.
    ///   - mode: The mode that is observed; `.common` for all common modes.
    ///   - buffering: Which activities are kept while no task waits.
    public func activities(
        _ activities: Activities, order: Int = 0, in mode: Mode = .common,
        buffering: EventSequence<Activities>.Buffering = .newest(64)
    ) -> EventSequence<Activities> {
        EventSequence(buffering: buffering) { emitter in
            let observer = Observer.sendable(activities, order: order, label: "activities") { emitter.emit($1) }
            add(observer, in: mode)
            return .stopping(observer)
        }
    }

    /// Makes a source, and a sequence with an element for each time that the source is performed.
    ///
    /// Signals that are sent before the source is performed coalesce, and so do performs while no task waits.
    ///
    /// - Parameters:
    ///   - order: The order of the source.
    ///   - mode: The mode that the source is in; `.common` for all common modes.
    /// - Returns: The source, which any code may signal and should follow with `RunLoop.wakeUp()`, and the events.
    public func performs(order: Int = 0, in mode: Mode = .common) -> (source: Source, events: EventSequence<Void>) {
        var made: Source?
        let events = EventSequence<Void>(buffering: .newest(1)) { emitter in
            // The caller keeps the source, so the end of the thread does not release the emitter: the cancel closure
            // ends the sequence.
            let source = Source.sendable(order: order, label: "performs", cancel: { _, _ in emitter.finish() }) { _ in
                emitter.emit(())
            }
            add(source, in: mode)
            made = source
            return .stopping(source)
        }
        guard let made else { preconditionFailure("The source was made above.") }
        return (made, events)
    }

    /// A sequence of the events that a descriptor is ready for.
    ///
    /// The descriptor is watched while the task waits and not while it works, so that nothing has to be kept, and the
    /// loop does not turn for unwanted events. Each element contains the events that hold after the task has asked for
    /// it. The caller keeps the descriptor, as with a descriptor source: end the sequence before you close the
    /// descriptor, and make the descriptor non-blocking.
    ///
    /// - Parameters:
    ///   - descriptor: The file descriptor.
    ///   - events: The events to report; hang-up and error are always reported.
    ///   - mode: The mode that is watched; `.common` for all common modes.
    /// - Throws: The error of adding the descriptor source. A later error ends the sequence.
    ///
    /// - Precondition: `descriptor` is not negative.
    /// - Complexity: two system calls for each event that has to be waited for.
    public func readiness(
        of descriptor: CInt, for events: RunLoop.DescriptorEvents = .readable, in mode: Mode = .common
    ) throws(SystemCallError) -> EventSequence<RunLoop.DescriptorEvents> {
        // Hang-up and error are of interest in any case, and the closure of a source that asks for nothing is not
        // called.
        let events: RunLoop.DescriptorEvents = events.isEmpty ? [.hangUp] : events
        // So that this call throws a refusal, instead of a waiting task finding out.
        let trial = DescriptorSource.sendable(descriptor, for: events, label: "trial") { _, _ in }
        try add(trial, in: mode)
        trial.invalidate()
        return EventSequence(buffering: .newest(1)) { emitter in
            let watch = DescriptorWatch(self, descriptor, events, mode, emitter)
            return EventSequence.Stop(demand: watch.begin, stop: watch.end)
        }
    }
}

extension RunLoop.EventSequence.Stop {
    /// Makes an item invalid that only its loop keeps.
    static func stopping(_ item: RunLoop.Item) -> Self { Self { [weak item] in item?.invalidate() } }
}
