// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import Glibc
import RunLoopsTestSupport

extension TemporaryDirectory {
    func makeDirectory(_ name: String) {
        precondition(mkdir(path(name), 0o700) == 0, "mkdir \(name): errno \(errno)")
    }

    /// Makes a file, or writes to the end of one; returns when the kernel has reported that it was closed.
    func write(_ name: String, _ text: String = "") {
        guard writeIfPossible(name, text) else { preconditionFailure("\(name) cannot be written") }
    }

    /// Does the same, unless a directory is missing, and returns whether it did.
    @discardableResult
    func writeIfPossible(_ name: String, _ text: String) -> Bool { write(to: Array(path(name).utf8CString), text) }

    /// Writes by a thread with descriptors of its own, for the reason that ``UnsharedFile`` has.
    func write(to path: [CChar], _ text: String) -> Bool {
        TestThread.run {
            precondition(makeOwnDescriptors(), "unshare: errno \(errno)")
            let file = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o600)
            if file < 0 { return false }
            _ = text.withCString { Glibc.write(file, $0, strlen($0)) }
            close(file)
            return true
        }
    }

    func move(_ name: String, to other: String) {
        precondition(rename(path(name), other.hasPrefix("/") ? other : path(other)) == 0, "rename: errno \(errno)")
    }
}
