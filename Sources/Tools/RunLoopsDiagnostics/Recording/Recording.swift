// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

internal import CRunLoopsTraceStart
public import RunLoops
internal import RunLoopsLibC
internal import RunLoopsSystem

extension RunLoop {
    /// Records the activity of loops: every phase and callout, the cause of each wake-up, and how long each callout had
    /// been ready before it began.
    ///
    /// Each loop has a ring of fixed size: new events overwrite the oldest, and the overwritten events are counted. The
    /// recording continues while ``trace()`` reads the events.
    ///
    /// ```swift
    /// let recording = RunLoop.Recording()
    /// recording.add(RunLoop.current)
    /// RunLoop.current.run(in: .default, for: .seconds(5))
    /// try recording.trace().write(to: "trace.html")
    /// ```
    ///
    /// A program that links this library and is started with `RUNLOOP_TRACE=file` in its environment need not call
    /// anything: <doc:SeeingInside>.
    ///
    /// Thread safety: all members may be used by any thread, except where they say otherwise.
    public final class Recording: Sendable {
        /// The maximum number of loops in a recording, so that a program with thousands of loops does not use up the
        /// memory.
        private static let maxLoops = 256

        /// The loops that are recorded, including those whose threads have ended.
        private struct State {
            var recorders: [LoopRecorder] = []
            var refused = 0
        }

        /// The maximum number of events for each loop, which take four gigabytes of address space.
        private static let maxEvents = 1 << 26

        /// The number of events that are kept for each loop.
        public let capacity: Int
        private let state: Guarded<State>
        private let subscription: Subscription<LoopRecorder>

        /// Begins a recording that has no loops yet.
        ///
        /// Until ``stop()``, signals, posts and wake-ups in the whole process record their time and their thread.
        ///
        /// - Parameter capacity: The number of events that are kept for each loop, rounded up to a power of two. An
        ///   event takes 64 bytes; memory is allocated as it is used. A turn with one callout is about ten events.
        ///
        /// - Precondition: `capacity` is positive, and at most 67,108,864 (2²⁶).
        public init(capacity: Int = 65_536) {
            precondition(capacity > 0, "A recording of no events was asked for: give a positive capacity.")
            precondition(
                capacity <= Self.maxEvents,
                "A recording of \(capacity) events was asked for: give a capacity of at most \(Self.maxEvents).")
            self.capacity = 1 << (Int.bitWidth - (capacity - 1).leadingZeroBitCount)
            let state = Guarded(State())
            self.state = state
            subscription = Subscription { [capacity = self.capacity] loop, loopState in
                state.withLock { state in
                    guard state.recorders.count < Self.maxLoops else {
                        state.refused += 1
                        return nil
                    }
                    let recorder = LoopRecorder(loop, loopState, capacity: capacity)
                    state.recorders.append(recorder)
                    return recorder
                }
            }
        }

        deinit { stop() }

        /// Records a loop from now on.
        ///
        /// Returns whether the loop is recorded. It is not recorded after ``stop()``, if 256 loops are recorded
        /// already, or while a `TraceRecorder` traces it. Several recordings may record the same loop.
        ///
        /// - Precondition: called on the loop's own thread.
        @discardableResult
        public func add(_ loop: RunLoop) -> Bool { subscription.add(loop) }

        /// Records every loop that is made from now on.
        public func addNewLoops() { subscription.addNewLoops() }

        /// Records all present and future loops of another subscription.
        func follow<Other>(_ other: Subscription<Other>) { subscription.follow(other) }

        /// Ends the recording; the recorded events are kept.
        ///
        /// A second call does nothing. The release of the recording stops it too.
        public func stop() {
            for recorder in subscription.stop() { recorder.stop() }
        }

        /// Returns the trace that has been recorded so far.
        ///
        /// - Complexity: O(n) in the events kept.
        public func trace() -> Trace {
            let (recorders, refused) = state.withLock { ($0.recorders, $0.refused) }
            let read = recorders.map { $0.read() }
            return Trace(
                process: getpid(), program: Self.programName, loops: read.map(\.loop), loopsNotRecorded: refused,
                end: read.map(\.end).max() ?? 0,
                foundationTimerOverdue: FoundationLoop.timerOverdue())
        }

        static var programName: String {
            let path = CommandLine.arguments.first ?? ""
            return path.split(separator: "/").last.map(String.init) ?? path
        }
    }
}

/// The recording of a whole process, from before `main()` to its end.
private final class ProcessRecording: @unchecked Sendable {
    static let shared = ProcessRecording()

    /// Written once, before main().
    @exclusivity(unchecked) private var recording = RunLoop.Recording()
    /// Written once, before main().
    @exclusivity(unchecked) private var file = SystemText()
    private let generation = ForkGeneration()
    private let hasEnded = Guarded(false)

    /// `events` is the number of events that are kept of each loop; 0 for the usual one.
    func start(_ file: SystemText, events: Int) {
        if events > 0 { recording = RunLoop.Recording(capacity: min(events, InspectorClient.maxEvents)) }
        self.file = SystemText(prefixOf: file.bytes.replacing("%p".utf8, with: "\(getpid())".utf8))
        recording.addNewLoops()
        atexit { ProcessRecording.shared.end() }
    }

    /// Makes a trace and its text once, before the program begins.
    ///
    /// The first use of a type may replace a table of Swift's runtime and free the old one, which takes the lock of the heap
    /// that the table came from. A program whose heap is corrupted ends with that lock held, and its trace would be lost.
    func prepare() {
        typealias Event = RunLoop.Trace.Event
        var trace = recording.trace()
        let ring = EventRing(capacity: 1)
        ring.write(RawEvent(time: 1))
        _ = ring.read().events.compactMap(Event.init)
        // Names of many lengths: an array that is filled exactly appends by another function of the standard library.
        for length in 0..<64 {
            let name = String(repeating: "x", count: length)
            let kinds: [Event.Kind] = [
                .runBegan(.default), .passed(.beforeTimers),
                .wanted(Event.Wait(since: 0, thread: 1, tolerance: 0, interval: 0)), .calloutBegan(.timer, name),
                .calloutEnded, .woke(Event.Waking(cause: .timer, asleepSince: 0, calledAt: 0, thread: 0)),
                .runEnded(.finished),
            ]
            let events = kinds.map { Event(time: 1, depth: 0, kind: $0) }
            var loop = RunLoop.Trace.Loop(thread: 1, name: name, isMain: false, events: events, lost: 0)
            loop.modesRun = [.default]
            loop.pages = [ItemPage(time: 1, items: [], unserved: [])]
            trace.loops.append(loop)
            let items = [LoopItemsReport.Item(label: name, modes: [name])]
            let page = LoopItemsReport.Page(items: items, unserved: [LoopItemsReport.Unserved(label: name)])
            _ = LoopItemsReport(modesRun: [name], pages: [page]).asJSON?.text
            _ = JSON.string(name).text
            _ = JSON.string(name + "\"").text
        }
        _ = trace.chromeJSON()
    }

    func end() {
        // A child that was forked and calls exit() would write over what its parent writes.
        if generation.isInherited { return }
        // Held while the file is written: a program that ends at the same time waits for it.
        hasEnded.withLock { hasEnded in
            if hasEnded { return }
            hasEnded = true
            recording.stop()
            var trace = recording.trace()
            trace.programEnded = true
            do {
                try trace.write(to: file)
            } catch {
                SystemCalls.writeToStandardError("RUNLOOP_TRACE: \(file.decoded) could not be written: \(error)\n")
            }
        }
    }
}

/// Called by CRunLoopsTraceStart before `main()`, when the environment has `RUNLOOP_TRACE`.
@_cdecl("run_loops_start_trace")
func startTrace(_ file: UnsafePointer<CChar>, _ events: UnsafePointer<CChar>?) {
    ProcessRecording.shared.start(SystemText(cString: file), events: events.map { atol($0) } ?? 0)
}

/// Called by CRunLoopsTraceStart before ``startTrace(_:_:)``.
@_cdecl("run_loops_prepare_trace")
func prepareTrace() { ProcessRecording.shared.prepare() }

/// Called by CRunLoopsTraceStart when a signal or the end of the recording time ends the program; returns when the trace is
/// written.
@_cdecl("run_loops_write_trace")
func writeTrace() { ProcessRecording.shared.end() }
