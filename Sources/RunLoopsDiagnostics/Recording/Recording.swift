// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

public import RunLoops

#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#endif

extension RunLoop {
    /// Records what loops do: every phase and callout, what woke the thread, and how long each callout had been wanted.
    ///
    /// Each loop has its own ring of fixed size: the oldest events are overwritten, and counted. Recording goes on
    /// while ``trace()`` reads what is there.
    ///
    /// ```swift
    /// let recording = RunLoop.Recording()
    /// recording.add(RunLoop.current)
    /// RunLoop.current.run(mode: .default, for: .seconds(5))
    /// try recording.trace().write(to: "trace.html")
    /// ```
    ///
    /// A program that links this library records by itself when it is started with `RUNLOOP_TRACE=file` in its
    /// environment: <doc:SeeingInside>.
    ///
    /// Thread safety: all members may be used by any thread, except where they say otherwise.
    public final class Recording: @unchecked Sendable {
        /// More loops than this are not recorded: a program with thousands would fill the memory.
        private static let mostLoops = 256

        /// How many events are kept for each loop.
        public let capacity: Int
        private let lock = Lock()
        // Guarded by the lock.
        @exclusivity(unchecked) private var recorded: [(recorder: LoopRecorder, announcer: LoopAnnouncer)] = []
        @exclusivity(unchecked) private var isStopped = false
        @exclusivity(unchecked) private var refused = 0

        /// Begins a recording, of no loop at first.
        ///
        /// From here until ``stop()``, signals, posts and wake-ups note their time and their thread, everywhere in the
        /// process.
        ///
        /// - Parameter capacity: How many events are kept for each loop, rounded up to a power of two. An event takes
        ///   64 bytes, and memory is taken as it is used. A turn with one callout is about ten events.
        ///
        /// - Precondition: `capacity` is positive.
        public init(capacity: Int = 65_536) {
            precondition(capacity > 0, "A recording of no events was asked for: give a positive capacity.")
            self.capacity = 1 << (Int.bitWidth - (capacity - 1).leadingZeroBitCount)
            NewLoops.setRecorded(true)
        }

        deinit { stop() }

        /// Records a loop from here on.
        ///
        /// Returns whether the loop is recorded: not after ``stop()``, not beyond 256 loops, not while a
        /// `TraceRecorder` has the loop. Several recordings may record the same loop.
        ///
        /// - Precondition: called on the loop's own thread.
        @discardableResult
        public func add(_ loop: RunLoop) -> Bool {
            precondition(
                loop.threadID == SystemCalls.threadID,
                "A recording was given the loop of another thread: call add(_:) on the loop's own thread.")
            return record(loop)
        }

        /// Without asking for the thread: for loops that nobody else knows yet.
        @discardableResult
        func record(_ loop: RunLoop) -> Bool {
            lock.withLock {
                if isStopped { return false }
                // A second entry of the same loop would show everything twice.
                if recorded.contains(where: { $0.announcer === loop.tracer }) { return true }
                if recorded.count >= Self.mostLoops {
                    refused += 1
                    return false
                }
                let recorder = LoopRecorder(loop, capacity: capacity)
                guard let announcer = LoopAnnouncer.add(recorder, to: loop) else { return false }
                recorded.append((recorder, announcer))
                return true
            }
        }

        /// The same from any thread, for a loop that somebody listens to until then.
        func record(_ loop: RunLoop, through announcer: LoopAnnouncer) {
            lock.withLock {
                if isStopped || recorded.contains(where: { $0.announcer === announcer }) { return }
                if recorded.count >= Self.mostLoops {
                    refused += 1
                    return
                }
                let recorder = LoopRecorder(loop, capacity: capacity)
                announcer.add(recorder)
                recorded.append((recorder, announcer))
            }
        }

        /// Ends the recording; the recorded events stay.
        ///
        /// A second call does nothing. The recording ends by itself with its life.
        public func stop() {
            let isFirst = lock.withLock {
                defer { isStopped = true }
                return !isStopped
            }
            guard isFirst else { return }
            NewLoops.setRecorded(false)
            for (recorder, announcer) in lock.withLock({ recorded }) {
                recorder.stop()
                announcer.remove(recorder)
            }
        }

        /// What has been recorded so far.
        ///
        /// - Complexity: O(n) in the events kept.
        public func trace() -> Trace {
            let (recorded, refused) = lock.withLock { (self.recorded, self.refused) }
            let loops = recorded.map { recorder, _ in
                let (events, lost) = recorder.events()
                let (modesRun, pages) = recorder.book.read()
                return Trace.Loop(
                    thread: recorder.thread, name: recorder.name, isMain: recorder.isMain, events: events,
                    lost: Int(lost),
                    modesRun: modesRun, pages: pages)
            }
            return Trace(process: getpid(), program: Self.programName, loops: loops, loopsNotRecorded: refused)
        }

        static var programName: String {
            let path = CommandLine.arguments.first ?? ""
            return path.split(separator: "/").last.map(String.init) ?? path
        }
    }
}
