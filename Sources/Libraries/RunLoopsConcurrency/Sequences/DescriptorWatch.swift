// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

internal import RunLoops

/// Watches a descriptor for one event at a time.
///
/// Makes a new descriptor source each time, which only its loop keeps. The call that adds the source throws what the
/// system refuses, and a refusal ends the sequence.
final class DescriptorWatch: Sendable {
    typealias Events = RunLoop.DescriptorEvents

    private let loop: RunLoop
    private let descriptor: CInt
    private let events: Events
    private let mode: RunLoop.Mode
    private let emitter: RunLoop.EventSequence<Events>.Emitter
    private let present = Guarded<WeakItem?>(nil)

    init(
        _ loop: RunLoop, _ descriptor: CInt, _ events: Events, _ mode: RunLoop.Mode,
        _ emitter: RunLoop.EventSequence<Events>.Emitter
    ) {
        self.loop = loop
        self.descriptor = descriptor
        self.events = events
        self.mode = mode
        self.emitter = emitter
    }

    /// Asks for the next event; a refusal of the system ends the sequence, as the end of the thread does.
    @Sendable func begin() {
        let report = Report(emitter)
        let source = RunLoop.DescriptorSource.sendable(descriptor, for: events, label: "readiness") {
            source, ready in
            report.emit(ready)
            source.invalidate()
        }
        present.withLock { $0 = WeakItem(source) }
        // A descriptor source that the loop does not take is released at the end of this function, and its report with
        // it.
        _ = try? loop.add(source, in: mode)
    }

    /// Watches no more, and ends the sequence if it was waiting for an event.
    @Sendable func end() {
        let past = present.withLock { present in
            defer { present = nil }
            return present
        }
        past?.item?.invalidate()
    }

    /// The one event of a descriptor source; a source that is released without it has ended the sequence.
    final class Report: Sendable {
        private let emitter: Guarded<RunLoop.EventSequence<Events>.Emitter?>

        init(_ emitter: RunLoop.EventSequence<Events>.Emitter) { self.emitter = Guarded(emitter) }

        deinit { take()?.finish() }

        func emit(_ events: Events) { take()?.emit(events) }

        private func take() -> RunLoop.EventSequence<Events>.Emitter? {
            emitter.withLock { emitter in
                defer { emitter = nil }
                return emitter
            }
        }
    }
}
