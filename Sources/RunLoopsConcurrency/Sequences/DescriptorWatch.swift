internal import RunLoops

/// Watches a descriptor for one event at a time.
///
/// A new descriptor source each time, which its loop alone keeps: adding one says what the system refuses, and that ends the
/// sequence.
final class DescriptorWatch: Sendable {
    typealias Events = RunLoop.DescriptorSource.Events

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

    /// Has the next event emitted; what the system refuses ends the sequence, as the end of the thread does.
    @Sendable func begin() {
        let report = Report(emitter)
        let source = RunLoop.DescriptorSource.sendable(descriptor, for: events, label: "readiness") {
            source, ready in
            report.emit(ready)
            source.invalidate()
        }
        present.withLock { $0 = WeakItem(source) }
        // A descriptor source that is not taken goes at the end of this, and its report with it.
        _ = try? loop.add(source, in: mode)
    }

    /// Watches no more, and ends the sequence if there was something to watch for.
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
