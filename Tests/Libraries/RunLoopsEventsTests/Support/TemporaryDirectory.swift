// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import CRunLoopsKernel
import Glibc
import RunLoops
import RunLoopsSystem
import RunLoopsTestSupport

/// A directory of its own in the system's place for such, removed with all that is in it at the end of the value's
/// life.
final class TemporaryDirectory: @unchecked Sendable {
    let path: String

    init() {
        var template = Array("/tmp/run-loops-events-XXXXXX".utf8CString)
        let made = template.withUnsafeMutableBufferPointer { mkdtemp($0.baseAddress.unsafelyUnwrapped) }
        guard made != nil else { preconditionFailure("mkdtemp: errno \(errno)") }
        path = template.withUnsafeBufferPointer { String(cString: $0.baseAddress.unsafelyUnwrapped) }
    }

    deinit { Self.remove(path) }

    func path(_ name: String) -> String { "\(path)/\(name)" }

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

    private static func remove(_ path: String) {
        let directory = rl_directory_open(path)
        if directory >= 0 {
            var names: [SystemText] = []
            _ = DirectoryEntries.read(directory) { name, _ in
                names.append(name)
                return true
            }
            close(directory)
            for name in names { remove("\(path)/\(name.decoded)") }
        }
        Glibc.remove(path)
    }
}
