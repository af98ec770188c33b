public import RunLoops

extension RunLoop.HangWatch {
    /// A stretch of work of one loop that has taken longer than its limit.
    ///
    /// A stretch begins where the loop's thread wakes up, or a run begins, before the first observer of that; it ends after
    /// the last observer before the thread sleeps, or the run has ended. A run inside a callout that sleeps ends it as well.
    ///
    /// Thread safety: a value; any thread.
    public struct Report: Sendable {
        /// Which of the two reports of a hang this is.
        public enum Stage: Sendable, Equatable {
            /// The limit has just been passed: what is said is what is known so far.
            case began
            /// The loop sleeps again, or has gone on.
            case ended
        }

        /// A callout that took part.
        public struct Callout: Sendable, Equatable {
            /// Its kind.
            public var kind: RunLoop.Trace.Event.Callee
            /// The item's label; the place where it was made, if it has none.
            public var label: String
            /// Where it was made, as `Module/File.swift:12`.
            public var place: String?
            /// How long it has taken of the stretch; of several with the same label all together, and at least so much.
            public var duration: Duration
            /// How many with the same label have returned; 0 of one that is under way.
            public var count: Int
        }

        /// Whether it is the beginning or the end that is reported.
        public var stage: Stage
        /// Counts the hangs of the process, so that an end finds its beginning.
        public var number: Int
        /// Whose hang it is.
        public var loop: RunLoop.Identity
        /// The innermost run's mode when the limit was passed.
        public var mode: RunLoop.Mode?
        /// How many runs were in progress then, one inside the other.
        public var depth: Int
        /// When the stretch began, on the monotonic clock.
        public var since: RunLoop.Instant
        /// How long it has taken so far, or in all, without what is in ``standstill``.
        public var duration: Duration
        /// How long the process was stopped meanwhile.
        public var standstill: Duration
        /// The limit that was passed.
        public var limit: Duration
        /// Why.
        public var cause: Cause
        /// The callout that is responsible; with ``HangWatch/Cause/congestion`` the one that has taken most time, counted by
        /// label.
        public var callout: Callout?
        /// The callouts that have taken most time, counted by label: the greatest first, at most eight.
        public var commonest: [Callout]
        /// How many callouts have returned in the stretch.
        public var calloutCount: Int
        /// The processor time of the loop's thread while the hang was looked at.
        public var processorTime: Duration
        /// How long its thread was ready to run meanwhile and had no processor.
        public var processorDelay: Duration
        /// Where the thread was most of the times it was looked at, innermost function first, down to the callout.
        public var stack: [StackFrame]
        /// In how many of ``samples`` it was there.
        public var stackSamples: Int
        /// How many times its stack was taken.
        public var samples: Int
        /// How many hangs with the same stack have not been reported since the last that was.
        public var leftOut: Int
    }

    /// Why a loop hangs.
    public enum Cause: Sendable, Equatable, CustomStringConvertible {
        /// One callout uses the processor.
        case computing
        /// One callout waits in the kernel.
        case waiting(Wait)
        /// Many callouts, of which none took half of the time.
        case congestion
        /// The thread was ready to run, and something else had the processor: without that it would not have been a hang.
        case starvation

        /// What a thread can wait for.
        public enum Wait: Sendable, Hashable, CustomStringConvertible {
            /// A lock, a semaphore or a condition: something that another thread has to give.
            case lock
            /// A time: `sleep` and similar calls.
            case sleep
            /// A file, a pipe, a socket, or one of several.
            case descriptors
            /// The end of a child process.
            case child
            /// Something else in the kernel, by the number of the system call; -1: a page of memory.
            case other(call: Int)

            /// The case in words.
            public var description: String {
                switch self {
                case .lock: "a lock, or another thread"
                case .sleep: "time to pass"
                case .descriptors: "input or output"
                case .child: "a child process"
                case .other(call: -1): "a page of memory"
                case .other(let call): "system call \(call)"
                }
            }
        }

        /// The case in words.
        public var description: String {
            switch self {
            case .computing: "one callout computes"
            case .waiting(let wait): "one callout waits for \(wait)"
            case .congestion: "many callouts, none of which is responsible"
            case .starvation: "the thread got no processor"
            }
        }
    }

    /// One function on a stack.
    public struct StackFrame: Sendable, Equatable, CustomStringConvertible {
        /// Where it is, or where it goes on after the call.
        public var address: UInt
        /// Its name, as it is written in Swift; `nil` if it is not known.
        public var function: String?
        /// The program or library that it is in.
        public var module: String?
        /// How far the address is behind the function's beginning; behind that of the module, where the function is not known.
        public var offset: Int

        /// Module, function and offset.
        public var description: String {
            let digits = String(offset, radix: 16)
            return "\(module ?? "?"): \(function ?? "?") + 0x\(digits)"
        }
    }
}
