// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

internal import CRunLoopsKernel
internal import RunLoopsLibC

extension ChildSource {
    /// How a child process ended, and what resources it used.
    public struct Exit: Hashable, Sendable {
        /// The number that the process had.
        public let process: CInt
        /// How the process ended.
        public let status: Status
        /// The resources that the process used; `nil` if other code has waited for the process.
        public let usage: Usage?

        /// Makes an exit, for tests of a closure.
        public init(process: CInt, status: Status, usage: Usage? = nil) {
            self.process = process
            self.status = status
            self.usage = usage
        }
    }

    /// How a process ended.
    public enum Status: Hashable, Sendable {
        /// The process returned from `main` or called `exit` with this code.
        case exited(CInt)
        /// A signal with this number ended the process, with or without a core dump.
        case signalled(CInt, dumpedCore: Bool)
        /// The process ended, but only other code knows how: it was not a child of this process, or other code has
        /// waited for it, before Linux 6.15.
        case unknown

        /// Whether the process has exited with the code 0.
        public var isSuccess: Bool { self == .exited(0) }
    }

    /// The resources that a process and the children that it waited for have used.
    public struct Usage: Hashable, Sendable {
        /// The time that the process spent in its own code.
        public let userTime: Duration
        /// The time that the kernel spent on behalf of the process.
        public let systemTime: Duration
        /// The maximum of the process's resident memory, in bytes.
        public let maxResidentBytes: Int
        /// The number of page faults that were served without a read from a disk.
        public let minorFaults: Int
        /// The number of page faults for which a page was read from a disk.
        public let majorFaults: Int
        /// The number of times that the process gave up its processor in order to wait.
        public let voluntarySwitches: Int
        /// The number of times that the kernel took the processor from the process for the sake of others.
        public let involuntarySwitches: Int
    }
}

extension ChildSource.Exit {
    /// How a process has ended; `nil` if it has not.
    init?(_ process: CInt, waitingFor file: Descriptor, reaps: Bool) {
        var end = rl_child_exit()
        let result = rl_pidfd_wait(file.number, reaps, &end)
        if result == 0 { return nil }
        self.process = process
        status = result < 0 ? .unknown : ChildSource.Status(end)
        usage = result == 1 ? ChildSource.Usage(end) : nil
    }
}

extension ChildSource.Status {
    fileprivate init(_ end: rl_child_exit) {
        self =
            switch end.code {
            case CInt(CLD_EXITED): .exited(end.status)
            case CInt(CLD_KILLED): .signalled(end.status, dumpedCore: false)
            default: .signalled(end.status, dumpedCore: true)
            }
    }
}

extension ChildSource.Usage {
    fileprivate init(_ end: rl_child_exit) {
        self.init(
            userTime: .microseconds(end.user_microseconds), systemTime: .microseconds(end.system_microseconds),
            maxResidentBytes: Int(end.most_resident_kilobytes) * 1024, minorFaults: Int(end.minor_faults),
            majorFaults: Int(end.major_faults), voluntarySwitches: Int(end.voluntary_switches),
            involuntarySwitches: Int(end.involuntary_switches))
    }
}
