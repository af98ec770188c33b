// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

public import RunLoops

extension RunLoop.HangWatch {
    /// What a ``HangWatch`` does.
    ///
    /// Thread safety: a value; any thread.
    public struct Options: Sendable {
        /// How long a stretch of work may take, where ``HangWatch/add(_:limit:)`` gives no other limit.
        public var limit: Duration = .milliseconds(250)
        /// Whether stacks are taken; without stacks, a report names the callout and no functions.
        public var takesStacks = true
        /// The time from one stack to the next, at first; in a long hang the pauses grow up to 64 times as long.
        public var samplingInterval: Duration = .milliseconds(50)
        /// The real-time signal with which stacks are taken; `nil` takes the highest free signal.
        ///
        /// One signal serves all watches of a process.
        public var signal: CInt?
        /// A directory in which a report lies while a hang lasts, so that the report is there if the process dies of
        /// the hang.
        public var directory: String?
        /// Whether reports stay in the directory when hangs have ended.
        public var keepsReports = false
        /// Whether hangs are reported while a debugger, or `strace`, has the process.
        public var reportsWhenTraced = false

        /// 250 ms, stacks every 50 ms, no directory.
        public init() {}
    }

    /// Why a ``HangWatch`` could not be made.
    ///
    /// Thread safety: a value; any thread.
    public enum Refusal: Error, Equatable, CustomStringConvertible {
        /// Something else in the process handles the signal, or every real-time signal.
        case signalIsTaken(CInt?)
        /// The directory cannot be written to.
        case directory(String, RunLoop.SystemCallError)
        /// The system refused something else.
        case refused(RunLoop.SystemCallError)

        /// Says what was refused, and what would help.
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
