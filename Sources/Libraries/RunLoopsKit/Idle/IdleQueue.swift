// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

public import RunLoops

extension RunLoop {
    /// Runs many small jobs when the loop has nothing else to do.
    ///
    /// Before the thread sleeps, the queue does as many jobs as its limits allow. While there are more jobs, it makes
    /// the loop turn again, and the loop serves timers, sources and descriptors between two portions. A portion also
    /// ends when a timer is due. No job runs in other modes than the queue's: with the default mode alone, for example,
    /// no job runs while the user drags.
    ///
    /// Waiting jobs keep the queue's modes from being empty. Without jobs the queue has nothing in the loop except an
    /// observer, and wakes no thread.
    ///
    /// A queue receives its modes when it is made. It works until it is invalidated or released. Waiting jobs keep the
    /// queue: a queue that is released with waiting jobs runs them first.
    ///
    /// Thread safety: belongs to the thread that makes it. Other threads reach the queue with `RunLoop.perform`.
    public final class IdleQueue: IdleJobOwner {
        /// The order of the observer that does the work: after commits, before release pools are emptied.
        public static let order = 2_100_000

        /// How much is done in one idle moment; may be changed at any time.
        public var limits: Limits
        /// The progress of the work since the queue was last empty.
        public private(set) var progress = Progress()
        /// Called after each portion of work, and when a late job has run.
        public var progressHandler: ((Progress) -> Void)?

        private let loop = RunLoop.current
        private let modes: [RunLoop.Mode]
        private let observers = OwnedObservers()
        private var jobs = IdleJobs()
        /// Pending jobs with a latest instant.
        private var dated: [Job] = []
        private var pendingCount = 0
        private var isValid = true
        /// A source that is in the modes while there are jobs: the modes are not empty, and the loop holds the queue.
        private weak var keeper: RunLoop.Source?
        private lazy var alarm = Alarm(in: [.common], label: "latest idle job") { [weak self] in self?.runLate() }
        /// Whether the loop has passed the queue's observer and not yet slept.
        private var isPast = false

        /// Makes a queue that works in runs of `modes` of the calling thread's loop.
        ///
        /// - Parameters:
        ///   - modes: The modes in which the queue works.
        ///   - limits: How much the queue does in one idle moment.
        public init(in modes: [RunLoop.Mode] = [.default], limits: Limits = Limits()) {
            self.modes = modes
            self.limits = limits
            observers.add(.beforeWaiting, order: Self.order, in: modes, label: "idle queue") { [weak self] _ in
                self?.work()
            }
            observers.add(.afterWaiting, order: 0, in: modes, label: "idle queue") { [weak self] _ in
                self?.isPast = false
            }
        }

        /// Ends the queue permanently: waiting jobs are cancelled, and jobs that are added later are cancelled at once.
        ///
        /// A second call does nothing.
        public func invalidate() {
            loop.requireOwn("idle queue")
            isValid = false
            cancelAll()
            observers.invalidate()
        }

        /// Whether no job waits.
        public var isEmpty: Bool { pendingCount == 0 }
        /// How many jobs wait.
        public var count: Int { pendingCount }

        /// Adds a job.
        ///
        /// - Parameters:
        ///   - priority: The priority of the job; jobs of equal priority run first in, first out.
        ///   - delay: How long the job may be postponed. After that time the job runs as soon as the loop turns in any
        ///     common mode, idle or not; `nil` for no limit.
        ///   - body: Runs once on this thread.
        /// - Returns: The job, with which it can be cancelled.
        ///
        /// - Complexity: O(1); with a latest time O(k) in the jobs that have one.
        @discardableResult
        public func add(
            priority: Priority = .normal, latestAfter delay: Duration? = nil, _ body: @escaping () -> Void
        ) -> Job {
            loop.requireOwn("idle queue")
            let job = Job(priority, delay.map { loop.now.advanced(by: $0) }, self, body)
            guard isValid else {
                _ = job.take()
                return job
            }
            if pendingCount == 0 { begin() }
            pendingCount += 1
            progress.total += 1
            jobs.append(job)
            if job.latest != nil {
                dated.append(job)
                setAlarm()
            }
            // Another observer of the same moment has added the job: the thread would sleep with work to do.
            if isPast { loop.wakeUp() }
            return job
        }

        /// Cancels all jobs.
        public func cancelAll() {
            loop.requireOwn("idle queue")
            while let job = jobs.next() { job.cancel() }
        }

        // MARK: Working

        private func begin() {
            progress = Progress()
            let keeper = RunLoop.Source(label: "idle jobs") { [self] _ in withExtendedLifetime(self) {} }
            self.keeper = keeper
            for mode in modes { loop.add(keeper, in: mode) }
        }

        private func work() {
            isPast = true
            guard pendingCount > 0 else { return }
            let end = endOfPortion
            var done = 0
            // At least one job, whatever the limits: the work also goes on beside timers that are always due.
            repeat {
                guard let job = jobs.next() else { break }
                run(job)
                done += 1
            } while done < limits.count && pendingCount > 0 && loop.now < end
            finishPortion()
            if pendingCount > 0 { loop.wakeUp() }
        }

        /// When the portion that begins now is over: by its limit, or because a timer is due.
        private var endOfPortion: RunLoop.Instant {
            let end = loop.now.advanced(by: limits.time)
            guard let mode = loop.currentMode, let due = loop.nextTimerDeadline(in: mode), due.clock == end.base else {
                return end
            }
            return min(end, due)
        }

        private func runLate() {
            let now = loop.now
            for job in dated where job.isPending && job.latest.map({ $0 <= now }) ?? false { run(job) }
            finishPortion()
        }

        private func run(_ job: Job) {
            guard let body = job.take() else { return }
            body()
            // Afterwards: a job that the last job adds belongs to the same work.
            pendingCount -= 1
            progress.completed += 1
        }

        private func finishPortion() {
            jobsHaveGone()
            progressHandler?(progress)
        }

        func jobWasCancelled() {
            pendingCount -= 1
            progress.total -= 1
            jobsHaveGone()
        }

        private func jobsHaveGone() {
            if !dated.isEmpty { setAlarm() }
            if pendingCount == 0 { keeper?.invalidate() }
        }

        /// Sets the alarm to the earliest of the instants; without instants the alarm leaves the loop entirely.
        private func setAlarm() {
            dated.removeAll { !$0.isPending }
            guard let latest = dated.lazy.compactMap(\.latest).min() else { return alarm.clear() }
            alarm.set(latest)
        }
    }
}
