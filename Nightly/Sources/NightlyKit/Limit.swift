// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import Glibc

/// What a process may have little of.
package enum Limit: String, CaseIterable, Sendable {
    /// Address space in KiB, beyond what the process has.
    case memory
    /// Threads, beyond those that the process has.
    case threads

    /// A user without other processes, because the system counts the threads of a user.
    private static var lonelyUser: uid_t { 1_000_000 + uid_t(getpid()) }

    /// Whether the limit can be set here; threads of the privileged user are not limited, and no other user can become
    /// one without processes.
    package var isPossible: Bool { self == .memory || geteuid() == 0 }

    /// Before anything else in a process that will be limited.
    package func prepare() {
        guard self == .threads else { return }
        let user = Self.lonelyUser
        precondition(setgid(user) == 0 && setuid(user) == 0, "no other user: error \(errno)")
    }

    /// Leaves the process that much more than it has.
    package func set(_ left: Int) {
        let now = Usage.now
        switch self {
        case .memory: set(soft: UInt((now.addressSpace + left) * 1024))
        case .threads: set(soft: UInt(now.threads + left))
        }
    }

    package func lift() { set(soft: nil) }

    /// The soft limit; `nil` for as much as the hard one.
    private func set(soft: UInt?) {
        // RLIMIT_AS and RLIMIT_NPROC, which Swift does not see.
        let resource = __rlimit_resource_t(self == .memory ? 9 : 6)
        var limit = rlimit()
        getrlimit(resource, &limit)
        limit.rlim_cur = soft ?? limit.rlim_max
        precondition(setrlimit(resource, &limit) == 0, "no limit of \(rawValue): error \(errno)")
    }
}
