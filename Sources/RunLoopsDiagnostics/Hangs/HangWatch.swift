// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

public import RunLoops
internal import Synchronization

extension RunLoop {
    /// Reports when a loop does not come to rest for too long: why, in which callout, and where in it.
    ///
    /// ```swift
    /// let watch = try RunLoop.HangWatch { report in print(report.text) }
    /// try watch.add(.main)
    /// RunLoop.main.run()
    /// ```
    ///
    /// One thread looks at all loops of a process that are watched. The thread sleeps while they sleep. When a limit is
    /// passed, the thread takes the stack of the loop's thread, again and again, and reports twice: when the hang
    /// begins, and when the hang has ended. The article <doc:WatchingForHangs> says what counts as a hang, and which
    /// causes it can have.
    ///
    /// Thread safety: all members may be used by any thread.
    public final class HangWatch: Sendable {
        private let options: Options
        private let setting: HangSetting
        private let state: State

        private struct Entry {
            var watched: WatchedLoop
            var loop: ObjectIdentifier
            /// Of a loop whose thread has been there.
            var announcer: LoopAnnouncer?
        }

        /// Guarded by its lock.
        private final class State: @unchecked Sendable {
            let lock = Lock()
            @exclusivity(unchecked) var entries: [Entry] = []
            @exclusivity(unchecked) var isStopped = false
        }

        /// Makes a watch, of no loop at first.
        ///
        /// - Parameters:
        ///   - options: What the watch does.
        ///   - handler: Receives each report, on the watching thread. Until the handler returns, nothing is watched.
        /// - Throws: What the watch needs and does not get.
        ///
        /// - Precondition: limits and intervals are positive.
        public init(
            options: Options = Options(), handler: @escaping @Sendable (HangWatch.Report) -> Void
        ) throws(Refusal) {
            require(
                options.limit > .zero && options.samplingInterval > .zero,
                "A hang watch was given a limit or an interval of no time: give positive ones.")
            self.options = options
            setting = try HangSetting(options, handler)
            state = State()
        }

        deinit { stop() }

        /// How often the process was found to have been stopped as a whole since loops are watched: by `SIGSTOP`, by a
        /// freezer, or with its machine.
        ///
        /// A standstill is no hang, and its time does not count as one.
        public static var standstills: Int { HangWatcher.shared.standstills.load(ordering: .relaxed) }

        /// Watches a loop from here on.
        ///
        /// A loop that is watched already keeps its limit. A loop of another thread is watched once it runs in a common
        /// mode. A loop that a `TraceRecorder` traces is not watched.
        ///
        /// - Parameters:
        ///   - loop: The loop; usually the main loop. Only loops that are added are watched.
        ///   - limit: How long a stretch of the loop's work may take; `nil` for the limit of the options.
        /// - Throws: ``HangWatch/Refusal/refused(_:)`` when the system has no thread for the first watch of the
        ///   process.
        public func add(_ loop: RunLoop, limit: Duration? = nil) throws(Refusal) {
            let limit = limit ?? options.limit
            require(limit > .zero, "A loop was to be watched with a limit of no time: give a positive limit.")
            let watched = WatchedLoop(loop, limit: limit.clampedNanoseconds, setting: setting)
            let isNew = state.lock.withLock {
                // A loop whose thread has ended may have left its address to another loop.
                state.entries.removeAll { $0.watched.isWithoutLoop }
                if state.isStopped || state.entries.contains(where: { $0.loop == ObjectIdentifier(loop) }) {
                    return false
                }
                state.entries.append(Entry(watched: watched, loop: ObjectIdentifier(loop)))
                return true
            }
            guard isNew else { return }
            do { try HangWatcher.shared.add(watched) } catch { throw .refused(error) }
            if loop.threadID == SystemCalls.threadID {
                attach(watched, to: loop)
            } else {
                // Weak: a watch that has gone meanwhile watches nothing.
                loop.perform(in: .common) { [weak self, weak loop] in
                    if let self, let loop { self.attach(watched, to: loop) }
                }
            }
        }

        /// The loop's thread.
        private func attach(_ watched: WatchedLoop, to loop: RunLoop) {
            guard let announcer = LoopAnnouncer.add(watched.listener, to: loop) else { return }
            watched.listener.begin(loop.currentMode)
            let isWanted = state.lock.withLock {
                guard let index = state.entries.firstIndex(where: { $0.watched === watched }) else { return false }
                state.entries[index].announcer = announcer
                return true
            }
            // The watch was stopped meanwhile.
            if !isWanted { announcer.remove(watched.listener) }
        }

        /// Ends the watch of all its loops.
        ///
        /// A report that is being made may still come. The end of a hang under way is not reported. A second call does
        /// nothing. The watch ends by itself with its life.
        public func stop() {
            let entries = state.lock.withLock {
                defer {
                    state.entries = []
                    state.isStopped = true
                }
                return state.entries
            }
            for entry in entries {
                HangWatcher.shared.remove(entry.watched)
                entry.announcer?.remove(entry.watched.listener)
            }
        }
    }
}
