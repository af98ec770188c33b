// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

extension RunLoopThread {
    /// The attributes that a thread is started with.
    ///
    /// Thread safety: a value; any thread.
    public struct Attributes: Hashable, Sendable {
        /// The scheduling class of a thread; see `sched(7)`.
        public enum SchedulingClass: Hashable, Sendable {
            /// The scheduling class of the thread that starts the new thread.
            case inherited
            /// `SCHED_OTHER`: a fair share, weighed by the nice value.
            case normal
            /// `SCHED_BATCH`: the same share, for work in the background.
            case batch
            /// `SCHED_IDLE`: the time that no other thread uses.
            case idle
            /// `SCHED_FIFO`: before all of the above, by priority from 1 to 99; needs a privilege.
            case firstInFirstOut(priority: Int)
            /// `SCHED_RR`: as ``firstInFirstOut(priority:)``, but threads of equal priority take turns.
            case roundRobin(priority: Int)
        }

        /// The name; of its UTF-8 the kernel keeps as many whole characters as fit in 15 bytes.
        public var name: String
        /// The size of the stack in bytes; `nil` for the system's default.
        public var stackSize: Int?
        /// The nice value, from -20 (most processor time) to 19 (least).
        ///
        /// `nil` to inherit it. A lower value than the present one needs a privilege.
        public var nice: Int?
        /// How the kernel schedules the thread.
        public var schedulingClass: SchedulingClass
        /// The numbers of the processors that the thread may run on; `nil` for the processors of the thread that starts
        /// it.
        public var processors: Set<Int>?

        /// Creates attributes; omitted values are inherited or the system's defaults.
        public init(
            name: String, stackSize: Int? = nil, nice: Int? = nil, schedulingClass: SchedulingClass = .inherited,
            processors: Set<Int>? = nil
        ) {
            self.name = name
            self.stackSize = stackSize
            self.nice = nice
            self.schedulingClass = schedulingClass
            self.processors = processors
        }

        /// As much of the name as the kernel takes, without half a character at the end.
        var kernelName: String {
            var name = name
            while name.utf8.count > 15 { name.removeLast() }
            return name
        }
    }
}
