// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

public import RunLoops

extension RunLoop {
    /// A recording: the last events of each loop.
    ///
    /// Thread safety: a value; any thread.
    public struct Trace: Sendable {
        /// The events of one loop.
        public struct Loop: Sendable {
            /// The kernel's number of the loop's thread.
            public var thread: Int32
            /// The thread's name, as the kernel knows it.
            public var name: String
            /// Whether it is the main loop.
            public var isMain: Bool
            /// Oldest first.
            public var events: [Trace.Event]
            /// How many older events were overwritten.
            public var lost: Int
            /// Since when the loop has been asleep, if it was asleep at the trace's end; in nanoseconds of the monotonic
            /// clock.
            public var asleepSince: Int64?
            /// The modes that the loop was run in, in the order of their first runs; also the modes whose events are
            /// lost.
            var modesRun: [RunLoop.Mode] = []
            /// The items of each mode at several instants, oldest first.
            var pages: [ItemPage] = []
        }

        /// The process's number.
        public var process: Int32
        /// The program's file name.
        public var program: String
        /// The loops, in the order in which they were added or made.
        public var loops: [Loop]
        /// The number of loops beyond the number that one recording keeps.
        public var loopsNotRecorded: Int
        /// When the trace was taken, or the recording was stopped, in nanoseconds of the loops' monotonic clock.
        public var end: Int64 = 0
        /// For how many nanoseconds a timer of Foundation's main loop has been due at the end, if nobody ran that loop.
        var foundationTimerOverdue: Int64?
    }
}

extension RunLoop.Trace {
    /// One thing that a loop did, and when the loop did it.
    ///
    /// Thread safety: a value; any thread.
    public struct Event: Sendable, Equatable {
        /// The kind of an event.
        public enum Kind: Sendable, Equatable {
            /// A run began in the mode.
            case runBegan(RunLoop.Mode)
            /// A point of the run was passed, whether anybody observes it or not.
            case passed(RunLoop.Activities)
            /// A callout began; its kind and its label.
            case calloutBegan(Callee, String)
            /// Since when the callout that has just begun was wanted.
            case wanted(Wait)
            /// The innermost callout returned.
            case calloutEnded
            /// The thread was awake again.
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
            /// A job of an executor ran, inside the callout of the source that the executor is.
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

        /// Since when a callout was wanted.
        public struct Wait: Sendable, Equatable {
            /// When a timer was due, a source was signalled, a block was posted, or a descriptor was found ready, in
            /// nanoseconds of the monotonic clock.
            ///
            /// A descriptor may have been ready before: the kernel does not say since when it was ready.
            public var since: Int64
            /// The thread that signalled or posted; 0 where there is none, or where it is not known.
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
                /// `wakeUp()` or `stop()`, also the wake-up of a block.
                case wakeUp
                /// A timer was due.
                case timer
                /// A descriptor was ready.
                case descriptor
                /// libdispatch's main queue had work.
                case mainQueue
                /// The run's time was over.
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
        /// How many runs the event is inside of.
        public var depth: Int
        /// The kind of an event.
        public var kind: Kind
    }
}

extension RunLoop.Trace.Event.Callee {
    /// The kind as the loop itself names it.
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
    /// Kinds by number, as they are in a ring.
    enum Code: UInt8 {
        case runBegan = 1
        case passed, calloutBegan, wanted, calloutEnded, woke, runEnded
    }

    static func head(_ code: Code, detail: UInt8 = 0, depth: UInt16, thread: Int32 = 0) -> UInt64 {
        UInt64(code.rawValue) | UInt64(detail) << 8 | UInt64(depth) << 16 | UInt64(UInt32(bitPattern: thread)) << 32
    }

    /// An event as it was in a ring; `nil` for numbers that stand for nothing.
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
