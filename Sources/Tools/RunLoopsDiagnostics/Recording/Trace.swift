// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

public import RunLoops

extension RunLoop {
    /// A recording of loops: the most recent events of each loop.
    ///
    /// Thread safety: a value; any thread.
    public struct Trace: Sendable {
        /// The events of one loop.
        public struct Loop: Sendable {
            /// The kernel's number of the loop's thread.
            public var thread: Int32
            /// The thread's name, as the kernel knows it.
            public var name: String
            /// Whether the loop is the main loop.
            public var isMain: Bool
            /// The events, oldest first.
            public var events: [Trace.Event]
            /// The number of older events that were overwritten.
            public var lost: Int
            /// When the loop fell asleep, in nanoseconds of the monotonic clock; `nil` if it was awake at the trace's
            /// end.
            public var asleepSince: Int64?
            /// The modes in which the loop was run, in the order of their first runs, including modes whose events were
            /// overwritten.
            var modesRun: [RunLoop.Mode] = []
            /// The items of each mode at several instants, oldest first.
            var pages: [ItemPage] = []
            /// How long a timer had been due at the end without the loop's host having run the loop, in nanoseconds;
            /// `nil` if the loop has no host, or none was due.
            var hostOverdue: Int64?
        }

        /// The process's number.
        public var process: Int32
        /// The program's file name.
        public var program: String
        /// The loops, in the order in which they were added or made.
        public var loops: [Loop]
        /// The number of loops that were not recorded because the recording had its maximum number of loops.
        public var loopsNotRecorded: Int
        /// When the trace was taken, or the recording was stopped, in nanoseconds of the loops' monotonic clock.
        public var end: Int64 = 0
        /// How long a timer of Foundation's main loop had been overdue at the end, in nanoseconds; `nil` if none was
        /// overdue or a thread ran that loop.
        var foundationTimerOverdue: Int64?
        /// Whether the program had ended, so that no loop runs later.
        var programEnded = false
    }
}

extension RunLoop.Trace {
    /// An action of a loop, with its time.
    ///
    /// Thread safety: a value; any thread.
    public struct Event: Sendable, Equatable {
        /// The kind of an event.
        public enum Kind: Sendable, Equatable {
            /// A run began in the mode.
            case runBegan(RunLoop.Mode)
            /// The run reached this activity, whether or not an observer asked for it.
            case passed(RunLoop.Activities)
            /// A callout of this kind began; the text is its label.
            case calloutBegan(Callee, String)
            /// The callout that has just begun had been ready for some time before.
            case wanted(Wait)
            /// The innermost callout returned.
            case calloutEnded
            /// The thread woke up.
            case woke(Waking)
            /// The innermost run ended.
            case runEnded(RunLoop.RunResult)
        }

        /// Kinds of callouts.
        public enum Callee: UInt8, Sendable, CaseIterable, CustomStringConvertible {
            /// An observer was called.
            case observer
            /// A closure given to `perform` ran.
            case block
            /// A signalled source was performed.
            case source
            /// A descriptor source was called.
            case descriptor
            /// A timer fired.
            case timer
            /// The work of libdispatch's main queue was done.
            case mainQueue
            /// A job of an executor ran, inside the callout of the executor's source.
            case job

            /// The name, in lower-case words.
            public var description: String {
                switch self {
                case .observer: "observer"
                case .block: "block"
                case .source: "source"
                case .descriptor: "descriptor"
                case .timer: "timer"
                case .mainQueue: "main queue"
                case .job: "job"
                }
            }
        }

        /// The time since which a callout had been ready, and the thread that asked for it.
        public struct Wait: Sendable, Equatable {
            /// When the timer was due, the source was signalled, the block was posted, or the descriptor was found
            /// ready, in nanoseconds of the monotonic clock.
            ///
            /// A descriptor may have been ready earlier: the kernel does not say when it became ready.
            public var since: Int64
            /// The thread that signalled the source or posted the block; 0 for other callouts, or if it is not known.
            public var thread: Int32
            /// The timer's tolerance in nanoseconds: how much later than its date it may fire; 0 for other callouts.
            public var tolerance: Int64
            /// The timer's interval in nanoseconds; 0 for a timer that fires once, and for other callouts.
            public var interval: Int64
        }

        /// The cause that ended a sleep.
        public struct Waking: Sendable, Equatable {
            /// The causes that can end a sleep.
            public enum Cause: UInt8, Sendable, CaseIterable, CustomStringConvertible {
                /// `wakeUp()` or `stop()` was called, or a block was posted with a wake-up.
                case wakeUp
                /// A timer was due.
                case timer
                /// A descriptor was ready.
                case descriptor
                /// libdispatch's main queue had work.
                case mainQueue
                /// The time limit of the run was reached.
                case limit

                /// The name, in lower-case words.
                public var description: String {
                    switch self {
                    case .wakeUp: "wake-up"
                    case .timer: "timer"
                    case .descriptor: "descriptor"
                    case .mainQueue: "main queue"
                    case .limit: "end of the run's time"
                    }
                }
            }

            /// The kind.
            public var cause: Cause
            /// When the thread went to sleep, in nanoseconds of the monotonic clock.
            public var asleepSince: Int64
            /// The time at which a wake-up was requested; 0 for other causes.
            public var calledAt: Int64
            /// The thread that requested a wake-up; 0 if it is not known, and for other causes.
            public var thread: Int32
        }

        /// When the event happened, in nanoseconds of the loop's monotonic clock.
        public var time: Int64
        /// The number of runs that contain the event.
        public var depth: Int
        /// The kind of an event.
        public var kind: Kind
    }
}

extension RunLoop.Trace.Event.Callee {
    /// Converts the kind from the loop's own type.
    init(_ callee: LoopEvent.Callee) {
        switch callee {
        case .observer: self = .observer
        case .block: self = .block
        case .source: self = .source
        case .descriptor: self = .descriptor
        case .timer: self = .timer
        case .mainQueue: self = .mainQueue
        case .job: self = .job
        }
    }
}

extension RunLoop.Trace.Event {
    /// The kinds of events by the number that a ring stores.
    enum Code: UInt8 {
        case runBegan = 1
        case passed, calloutBegan, wanted, calloutEnded, woke, runEnded
    }

    static func head(_ code: Code, detail: UInt8 = 0, depth: UInt16, thread: Int32 = 0) -> UInt64 {
        UInt64(code.rawValue) | UInt64(detail) << 8 | UInt64(depth) << 16 | UInt64(UInt32(bitPattern: thread)) << 32
    }

    /// Makes an event from the words in a ring; `nil` if the numbers are not valid.
    init?(_ raw: RawEvent) {
        let detail = UInt8(truncatingIfNeeded: raw.head >> 8)
        let thread = Int32(truncatingIfNeeded: raw.head >> 32)
        guard let code = Code(rawValue: UInt8(truncatingIfNeeded: raw.head)) else { return nil }
        time = raw.time
        depth = Int(UInt16(truncatingIfNeeded: raw.head >> 16))
        switch code {
        case .runBegan: kind = .runBegan(RunLoop.Mode(number: UInt32(truncatingIfNeeded: raw.first)))
        case .passed: kind = .passed(RunLoop.Activities(rawValue: UInt(truncatingIfNeeded: raw.first)))
        case .calloutBegan:
            guard let callee = Callee(rawValue: detail) else { return nil }
            kind = .calloutBegan(callee, LabelKeeper.text(raw.label, raw.line))
        case .wanted:
            kind = .wanted(Wait(since: raw.first, thread: thread, tolerance: raw.second, interval: raw.third))
        case .calloutEnded: kind = .calloutEnded
        case .woke:
            guard let cause = Waking.Cause(rawValue: detail) else { return nil }
            kind = .woke(Waking(cause: cause, asleepSince: raw.second, calledAt: raw.first, thread: thread))
        case .runEnded:
            guard let result = RunLoop.RunResult(rawValue: Int(truncatingIfNeeded: raw.first)) else { return nil }
            kind = .runEnded(result)
        }
    }
}
