// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

public import RunLoops

extension RunLoop.HangWatch {
    /// A stretch of work of one loop that has taken longer than its limit.
    ///
    /// A stretch begins when the loop's thread wakes up or a run begins, before the first observer is called. The
    /// stretch ends after the last observer before the thread sleeps, or when the run has ended. If a callout runs the
    /// loop and this run sleeps, the stretch ends as well.
    ///
    /// Thread safety: a value; any thread.
    public struct Report: Sendable {
        /// The stage of a hang at which it is reported.
        public enum Stage: Sendable, Equatable {
            /// The limit has just been exceeded: the report contains the facts known so far.
            case began
            /// The hang has ended: the loop sleeps, the run has ended, or a new stretch of work has begun.
            case ended
        }

        /// A callout in the stretch, returned or still under way.
        public struct Callout: Sendable, Equatable {
            /// The kind of the callout.
            public var kind: RunLoop.Trace.Event.Callee
            /// The item's label; the place where the item was made, if it has no label.
            public var label: String
            /// Where the item was made, as `Module/File.swift:12`.
            public var place: String?
            /// The time that the callout took within the stretch.
            ///
            /// For several callouts with the same label this is the sum of their times; the true sum may be greater.
            public var duration: Duration
            /// How many callouts with the same label have returned; 0 for a callout that is under way.
            public var count: Int
        }

        /// Whether the report is made at the beginning or at the end of the hang.
        public var stage: Stage
        /// The number of the hang in the process; both reports of a hang have the same number.
        public var number: Int
        /// The loop that hangs.
        public var loop: RunLoop.Identity
        /// The innermost run's mode when the limit was passed.
        public var mode: RunLoop.Mode?
        /// How many runs were in progress when the limit was passed, one inside the other.
        public var depth: Int
        /// When the stretch began, on the monotonic clock.
        public var since: RunLoop.Instant
        /// The duration of the stretch so far, or of the whole stretch if the hang has ended, without the time in
        /// ``standstill``.
        public var duration: Duration
        /// How long the process as a whole was stopped during the stretch.
        public var standstill: Duration
        /// The limit that the stretch exceeded.
        public var limit: Duration
        /// Why the loop hangs.
        public var cause: Cause
        /// The callout that caused the hang; for ``HangWatch/Cause/congestion`` the label whose callouts took the most
        /// time in total.
        public var callout: Callout?
        /// The callouts that took the most time, added up by label: at most eight, the longest first.
        public var commonest: [Callout]
        /// How many callouts have returned in the stretch.
        public var calloutCount: Int
        /// The processor time that the loop's thread used during the hang, as far as the watch could measure it.
        public var processorTime: Duration
        /// How long the loop's thread was ready to run during the hang and had no processor.
        public var processorDelay: Duration
        /// The functions that most of the ``samples`` have in common inside the callout, innermost first.
        public var stack: [StackFrame]
        /// The number of ``samples`` that contain ``stack``.
        public var stackSamples: Int
        /// The number of the thread's stacks that the watch has kept of this hang: the latest, at most 64.
        public var samples: Int
        /// A sentence about each ring of tasks that wait for each other; empty if there are none, and without
        /// ``Options/taskLimit``.
        public var tasks: [String] = []
        /// How many hangs with the same stack were left out since the last report of such a hang.
        public var leftOut: Int
    }

    /// Why a loop hangs.
    public enum Cause: Sendable, Equatable, CustomStringConvertible {
        /// One callout uses the processor.
        case computing
        /// One callout waits in the kernel.
        case waiting(Wait)
        /// Many callouts took the time, and none of them half of it.
        case congestion
        /// The thread was ready to run while other threads had the processor; without these waits, the limit would not
        /// have been exceeded.
        case starvation
        /// The loop sleeps, and tasks of the process wait for each other: none of them ends.
        ///
        /// Reported once for each ring of tasks, with the stage ``Report/Stage/began`` and the duration of the sleep.
        case tasksInRing

        /// The kinds of waits of a thread.
        public enum Wait: Sendable, Hashable, CustomStringConvertible {
            /// A lock, a semaphore or a condition: something that another thread has to release or signal.
            case lock
            /// The end of a period of time, in `sleep` and similar calls.
            case sleep
            /// A file, a pipe or a socket, or one of several descriptors.
            case descriptors
            /// The end of a child process.
            case child
            /// Another system call with this number; -1 for a page of memory.
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
            case .tasksInRing: "tasks wait for each other"
            }
        }
    }

    /// One function on a stack.
    public struct StackFrame: Sendable, Equatable, CustomStringConvertible {
        /// The address of the thread's next instruction in the function, or the return address of a call.
        public var address: UInt
        /// The function's name, as it is written in Swift; `nil` if the name is not known.
        public var function: String?
        /// The file name of the program or library that contains the function.
        public var module: String?
        /// The distance of the address in bytes from the function's beginning, or from the module's if the function is
        /// not known.
        public var offset: Int

        /// Module, function and offset.
        public var description: String {
            let digits = String(offset, radix: 16)
            return "\(module ?? "?"): \(function ?? "?") + 0x\(digits)"
        }
    }
}
