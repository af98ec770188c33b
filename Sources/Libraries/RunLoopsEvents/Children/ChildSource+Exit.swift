// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

internal import CLinuxKernel
internal import LinuxLibC

extension ChildSource {
    /// How a child process ended, and what resources it used.
    public struct Exit: Hashable, Sendable {
        /// The number that the process had.
        public let process: CInt
        /// How it ended.
        public let status: Status
        /// The resources that it used; `nil` if other code has waited for it.
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
        /// It returned from `main` or called `exit` with this code.
        case exited(CInt)
        /// A signal ended it; with a core dump or without.
        case signalled(CInt, dumpedCore: Bool)
        /// The process ended, but only other code knows how: it was not a child of this process, or other code has
        /// waited for it, before Linux 6.15.
        case unknown

        /// Whether the process has exited with the code 0.
        public var isSuccess: Bool { self == .exited(0) }
    }

    /// The resources that a process and the children that it waited for have used.
    public struct Usage: Hashable, Sendable {
        /// Time spent in its own code.
        public let userTime: Duration
        /// Time spent in the kernel for it.
        public let systemTime: Duration
        /// The most memory that the process had at a time, in bytes.
        public let mostResidentBytes: Int
        /// Pages that came without being read from a disk.
        public let minorFaults: Int
        /// Pages that had to be read from a disk.
        public let majorFaults: Int
        /// How often the process waited.
        public let voluntarySwitches: Int
        /// How often the process was made to wait for others.
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
            mostResidentBytes: Int(end.most_resident_kilobytes) * 1024, minorFaults: Int(end.minor_faults),
            majorFaults: Int(end.major_faults), voluntarySwitches: Int(end.voluntary_switches),
            involuntarySwitches: Int(end.involuntary_switches))
    }
}
