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
            /// The limit has just been passed: the report says what is known so far.
            case began
            /// The loop sleeps again, or has gone on.
            case ended
        }

        /// A callout that took part.
        public struct Callout: Sendable, Equatable {
            /// The kind of the callout.
            public var kind: RunLoop.Trace.Event.Callee
            /// The item's label; the place where the item was made, if it has no label.
            public var label: String
            /// Where the item was made, as `Module/File.swift:12`.
            public var place: String?
            /// How long the callout has taken of the stretch.
            ///
            /// Several callouts with the same label are added up, and
            /// have taken at least so much.
            public var duration: Duration
            /// How many callouts with the same label have returned; 0 for a callout that is under way.
            public var count: Int
        }

        /// Whether this report is about the beginning or the end.
        public var stage: Stage
        /// Counts the hangs of the process, so that an end finds its beginning.
        public var number: Int
        /// The loop that hangs.
        public var loop: RunLoop.Identity
        /// The innermost run's mode when the limit was passed.
        public var mode: RunLoop.Mode?
        /// How many runs were in progress when the limit was passed, one inside the other.
        public var depth: Int
        /// When the stretch began, on the monotonic clock.
        public var since: RunLoop.Instant
        /// How long the stretch has taken so far, or in all, without the time in ``standstill``.
        public var duration: Duration
        /// How long the process was stopped meanwhile.
        public var standstill: Duration
        /// The limit that was passed.
        public var limit: Duration
        /// Why the loop hangs.
        public var cause: Cause
        /// The callout that is responsible; with ``HangWatch/Cause/congestion`` the callout that has taken most time,
        /// counted by label.
        public var callout: Callout?
        /// The callouts that have taken most time, counted by label: the greatest first, at most eight.
        public var commonest: [Callout]
        /// How many callouts have returned in the stretch.
        public var calloutCount: Int
        /// The processor time of the loop's thread while the watch looked at the hang.
        public var processorTime: Duration
        /// How long the loop's thread was ready to run meanwhile and had no processor.
        public var processorDelay: Duration
        /// Where the thread was in most of the looks, innermost function first, down to the callout.
        public var stack: [StackFrame]
        /// In how many of the ``samples`` the thread was there.
        public var stackSamples: Int
        /// How many times the thread's stack was taken.
        public var samples: Int
        /// How many hangs with the same stack were left out since the last report of such a hang.
        public var leftOut: Int
    }

    /// Why a loop hangs.
    public enum Cause: Sendable, Equatable, CustomStringConvertible {
        /// One callout uses the processor.
        case computing
        /// One callout waits in the kernel.
        case waiting(Wait)
        /// Many callouts; none of them took half of the time.
        case congestion
        /// The thread was ready to run, and something else had the processor. Without this wait, it would be no hang.
        case starvation

        /// The kinds of waits of a thread.
        public enum Wait: Sendable, Hashable, CustomStringConvertible {
            /// A lock, a semaphore or a condition: something that another thread has to release or signal.
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
        /// Where the function is, or where it goes on after the call.
        public var address: UInt
        /// The function's name, as it is written in Swift; `nil` if the name is not known.
        public var function: String?
        /// The program or library that the function is in.
        public var module: String?
        /// How far the address is behind the function's beginning, or the module's where the function is not known.
        public var offset: Int

        /// Module, function and offset.
        public var description: String {
            let digits = String(offset, radix: 16)
            return "\(module ?? "?"): \(function ?? "?") + 0x\(digits)"
        }
    }
}
