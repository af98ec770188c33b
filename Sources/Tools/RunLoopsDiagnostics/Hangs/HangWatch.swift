// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

public import RunLoops
internal import RunLoopsConcurrency
internal import Synchronization

extension RunLoop {
    /// Reports when a loop works for too long without a sleep: why, in which callout, and in which functions.
    ///
    /// ```swift
    /// let watch = try RunLoop.HangWatch { report in print(report.text) }
    /// try watch.add(.main)
    /// RunLoop.main.run()
    /// ```
    ///
    /// One thread watches all loops that were added, and sleeps while they sleep. When a loop exceeds its limit, the
    /// watching thread samples the stack of the loop's thread repeatedly, and reports twice: when the hang begins, and
    /// when the hang has ended. The article <doc:WatchingForHangs> says what counts as a hang, and which causes it can
    /// have.
    ///
    /// Thread safety: all members may be used by any thread.
    public final class HangWatch: Sendable {
        private let setting: HangSetting
        private let subscription: Subscription<WatchedLoop>

        /// Makes a watch that has no loops yet.
        ///
        /// - Parameters:
        ///   - options: The settings of the watch.
        ///   - handler: Receives each report, on the watching thread. Until the handler returns, nothing is watched.
        /// - Throws: A ``HangWatch/Refusal`` that says why the watch could not be made.
        ///
        /// - Precondition: limits and intervals are positive.
        public init(
            options: Options = Options(), handler: @escaping @Sendable (HangWatch.Report) -> Void
        ) throws(Refusal) {
            require(
                options.limit > .zero && options.samplingInterval > .zero && options.taskLimit ?? .seconds(1) > .zero,
                "A hang watch was given a limit or an interval of no time: give positive ones.")
            setting = try HangSetting(options, handler)
            // Each loop is added with a limit of its own.
            subscription = Subscription(keepsStamps: false) { _, _ in nil }
            if options.taskLimit != nil { TaskWaits.retain() }
        }

        deinit {
            stop()
            if setting.options.taskLimit != nil { TaskWaits.release() }
        }

        /// The number of times that the whole process was found to have been stopped while loops were watched: by
        /// `SIGSTOP`, by a freezer, or together with its machine.
        ///
        /// The time of a standstill does not count as part of a hang.
        public static var standstills: Int { HangWatcher.shared.standstills.load(ordering: .relaxed) }

        /// Watches a loop from now on.
        ///
        /// If the loop is watched already, its limit does not change. A loop of another thread is watched from its next
        /// run in a common mode on. A loop that a `TraceRecorder` traces is not watched.
        ///
        /// - Parameters:
        ///   - loop: The loop; usually the main loop. Only loops that are added are watched.
        ///   - limit: How long a stretch of the loop's work may take; `nil` for the limit of the options.
        /// - Throws: ``HangWatch/Refusal/refused(_:)`` if the system cannot create the watching thread for the first
        ///   watch of the process.
        public func add(_ loop: RunLoop, limit: Duration? = nil) throws(Refusal) {
            let limit = limit ?? setting.options.limit
            require(limit > .zero, "A loop was to be watched with a limit of no time: give a positive limit.")
            do { try HangWatcher.shared.start() } catch { throw .refused(error) }
            if loop.threadID == SystemCalls.threadID { return attach(loop, limit) }
            // Weak: a watch that has gone meanwhile watches nothing.
            loop.perform(in: .common) { [weak self, weak loop] in
                if let self, let loop { self.attach(loop, limit) }
            }
        }

        /// Attaches the watch to a loop; called on the loop's thread.
        private func attach(_ loop: RunLoop, _ limit: Duration) {
            _ = subscription.add(loop) { [setting] loop, state in
                let watched = WatchedLoop(loop, state, limit: limit.clampedNanoseconds, setting: setting)
                HangWatcher.shared.add(watched)
                return watched
            }
        }

        /// Ends the watching of all loops of this watch.
        ///
        /// A report that is being made may still reach the handler after the call. The end of a hang under way is not
        /// reported. A second call does nothing. The release of the watch stops it too.
        public func stop() {
            for watched in subscription.stop() { HangWatcher.shared.remove(watched) }
        }
    }
}

extension RunLoop.HangWatch {
    /// The settings of a ``HangWatch``.
    ///
    /// Thread safety: a value; any thread.
    public struct Options: Sendable {
        /// How long a stretch of work may take, where ``HangWatch/add(_:limit:)`` gives no other limit.
        public var limit: Duration = .milliseconds(250)
        /// Whether the watch samples stacks; without stacks, a report names the callout and no functions.
        public var takesStacks = true
        /// The time between two stacks at the beginning of a hang; in a long hang the intervals grow up to 64 times as
        /// long.
        public var samplingInterval: Duration = .milliseconds(50)
        /// The real-time signal with which the watch samples stacks; `nil` for the highest free signal.
        ///
        /// One signal serves all watches of a process.
        public var signal: CInt?
        /// The directory for the report of a hang under way, so that the report exists if the process dies during the
        /// hang; `nil` for none.
        public var directory: String?
        /// Whether reports remain in the directory after their hangs have ended.
        public var keepsReports = false
        /// How long the main loop may sleep before the watch searches for tasks that wait for each other; `nil` for never.
        ///
        /// With a time, the watch searches also when a loop hangs whose thread waits. Each ring of tasks is reported once.
        /// The search reads the memory that the process may write, on the watch's thread, which watches nothing meanwhile. It takes
        /// longer the more memory and the more tasks there are.
        public var taskLimit: Duration?
        /// Whether hangs are reported while a debugger or `strace` traces the process.
        public var reportsWhenTraced = false

        /// Makes the default options: a limit of 250 ms, stacks every 50 ms, no directory, no search for tasks.
        public init() {}
    }

    /// Why a ``HangWatch`` could not be made.
    ///
    /// Thread safety: a value; any thread.
    public enum Refusal: Error, Equatable, CustomStringConvertible {
        /// Other code in the process handles the named signal; with `nil`, every real-time signal is in use.
        case signalIsTaken(CInt?)
        /// The directory cannot be written to.
        case directory(String, RunLoop.SystemCallError)
        /// Another system call failed, with this error.
        case refused(RunLoop.SystemCallError)

        /// A sentence that says what was refused, and how to avoid it.
        public var description: String {
            switch self {
            case .signalIsTaken(let signal?): "Signal \(signal) is handled by something else: let `signal` be nil."
            case .signalIsTaken(nil): "Every real-time signal is handled by something else: let `takesStacks` be false."
            case .directory(let path, let error): "No report can be written in \(path): \(error)"
            case .refused(let error): error.description
            }
        }
    }
}
