// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import Glibc
import RunLoopsTestSupport

extension TemporaryDirectory {
    func makeDirectory(_ name: String) {
        precondition(mkdir(path(name), 0o700) == 0, "mkdir \(name): errno \(errno)")
    }

    /// Makes a file, or writes to the end of one.
    func write(_ name: String, _ text: String = "") {
        let file = open(path(name), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o600)
        precondition(file >= 0, "open \(name): errno \(errno)")
        _ = text.withCString { Glibc.write(file, $0, strlen($0)) }
        close(file)
    }

    /// Waits until no process has the file open for writing: for a moment, a process that another test starts has what was open here, and
    /// the kernel reports the end of writing when that process closes it.
    func waitForWriters(of name: String) {
        // The kernel refuses a lease for reading while somebody may write. It announces the end of a lease by SIGIO.
        signal(SIGIO, SIG_IGN)
        let file = open(path(name), O_RDONLY | O_CLOEXEC)
        defer { close(file) }
        // F_SETLEASE, which the import of the C library leaves out.
        let setLease: CInt = 1024
        while fcntl(file, setLease, F_RDLCK) != 0, errno == EAGAIN { usleep(1000) }
        _ = fcntl(file, setLease, F_UNLCK)
    }

    func move(_ name: String, to other: String) {
        precondition(rename(path(name), other.hasPrefix("/") ? other : path(other)) == 0, "rename: errno \(errno)")
    }
}
