// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

internal import CRunLoopsKernel
internal import RunLoops

// What a child is made of.
extension Child {
    /// The program that a child runs.
    public enum Executable: Hashable, Sendable {
        /// A file of this name in the directories that `PATH` names in the child's environment.
        ///
        /// A name with a slash is a path. Without a `PATH`, `/bin` and `/usr/bin` are searched.
        case name(String)
        /// The file at this path; a relative path begins in the child's directory.
        case path(String)
    }

    /// The environment of a child.
    public enum Environment: Hashable, Sendable {
        /// The environment of this process, as it is when the child is spawned.
        case inherited
        /// The environment of this process with changes; `nil` removes a variable.
        ///
        /// Names are compared by their bytes. A name must not be empty or contain `=`.
        case updating([String: String?])
        /// Only the given variables.
        ///
        /// A name must not be empty or contain `=`.
        case only([String: String])
    }

    /// Where a child's standard input comes from.
    public enum Input: Hashable, Sendable {
        /// This process's own standard input.
        case inherited
        /// No input (`/dev/null`): the child reads the end of the input at once.
        case null
        /// A pipe, whose other end is ``Child/standardInput``.
        case pipe
        /// The file at a path, which begins in this process's directory if it is relative.
        case file(String)
        /// A descriptor of this process, where it stays open.
        case descriptor(CInt)
    }

    /// Where a child's standard output or standard error goes.
    public enum Output: Hashable, Sendable {
        /// This process's own stream.
        case inherited
        /// No destination (`/dev/null`): the output is discarded.
        case null
        /// A pipe, whose other end is ``Child/standardOutput`` or ``Child/standardError``.
        case pipe
        /// The file at a path, which is created if it does not exist, and truncated unless `appending` is `true`.
        ///
        /// A relative path begins in this process's directory.
        case file(String, appending: Bool = false)
        /// A descriptor of this process, where it stays open.
        case descriptor(CInt)
        /// The destination of the child's standard output; for standard error alone.
        case combinedWithOutput
    }

    /// The process group of a child, to which a terminal sends its signals.
    ///
    /// Whatever a child starts is in the child's group, unless it makes a group of its own. A child with a new group is
    /// ended together with all members: ``Child/terminate(killAfter:on:in:)``.
    public enum Group: Hashable, Sendable {
        /// The group of this process: a Control-C reaches the child too.
        case inherited
        /// A new group, which has the child's number.
        case new
        /// A group that exists in this session.
        case joined(CInt)
        /// A new session with a new group, and without a controlling terminal.
        case newSession
    }

    /// A limit on a resource that a child may use.
    public struct Limit: Hashable, Sendable {
        /// The resource, by the system's number, such as `RLIMIT_CPU`.
        public let resource: CInt
        /// The limit that is in force, and the maximum to which the child itself may raise that limit.
        public let soft, hard: UInt64

        /// Makes a limit on any resource.
        ///
        /// - Parameters:
        ///   - resource: The system's number.
        ///   - soft: What the child may use.
        ///   - hard: The value up to which the child may raise that; `soft` if `nil`.
        public init(_ resource: CInt, soft: UInt64, hard: UInt64? = nil) {
            self.resource = resource
            self.soft = soft
            self.hard = hard ?? soft
        }

        /// The time on a processor, in whole seconds, after which the system ends the child.
        public static func processorTime(_ time: Duration) -> Limit {
            Limit(rl_limit_cpu, soft: UInt64(max(0, time.components.seconds)))
        }
        /// How much memory the child may map, in bytes.
        public static func addressSpace(_ bytes: Int) -> Limit { Limit(rl_limit_address_space, soft: count(bytes)) }
        /// How large a file the child may write, in bytes.
        public static func fileSize(_ bytes: Int) -> Limit { Limit(rl_limit_file_size, soft: count(bytes)) }
        /// How large a core dump may be, in bytes.
        public static func coreDump(_ bytes: Int) -> Limit { Limit(rl_limit_core, soft: count(bytes)) }
        /// How many descriptors the child may have, counted by their numbers.
        public static func openFiles(_ files: Int) -> Limit { Limit(rl_limit_open_files, soft: count(files)) }
        /// How large the stack of the child's first thread may be, in bytes.
        public static func stack(_ bytes: Int) -> Limit { Limit(rl_limit_stack, soft: count(bytes)) }

        private static func count(_ number: Int) -> UInt64 { UInt64(max(0, number)) }
    }

    /// The error of a child that could not be started: no process and no open descriptor is left.
    public struct SpawnError: Error, Hashable, Sendable, CustomStringConvertible {
        /// The step at which the start of a child failed.
        public enum Step: Hashable, Sendable {
            /// A text for the child contains a zero byte, or the name of a variable is empty or contains `=`
            /// (`EINVAL`).
            case text
            /// A file for a standard stream could not be opened.
            case open
            /// A pipe could not be made.
            case pipe
            /// A terminal could not be made, or could not become the child's controlling terminal.
            case terminal
            /// The process could not be made.
            case clone
            /// The child's signals, or its group or session, could not be set.
            case signals, group
            /// The child could not change to its directory.
            case directory
            /// The child could not receive its descriptors, or could not close all others.
            case descriptors
            /// The child's limits could not be set.
            case limits
            /// The child could not execute the program.
            case execute
        }

        /// The step at which the start of a child failed.
        public let step: Step
        /// The path, name or number that the failed step was about.
        public let subject: String
        /// The error number (`errno`), such as `ENOENT`.
        public let code: CInt

        /// Makes an error, for tests of code that handles one.
        public init(_ step: Step, _ subject: String, code: CInt) {
            self.step = step
            self.subject = subject
            self.code = code
        }

        /// The step, the subject, the system's words for the error, and its number.
        public var description: String {
            "\(RunLoop.SystemCallError(call: "spawn: \(step) \(subject)", code: code))"
        }
    }
}
