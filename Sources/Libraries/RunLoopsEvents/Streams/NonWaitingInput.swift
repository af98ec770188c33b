// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

internal import CRunLoopsKernel
internal import RunLoopsLibC

/// Reads from a descriptor without waiting, whether or not the descriptor is blocking.
///
/// That a descriptor was readable a moment ago says nothing about a read now: another reader of the same pipe or
/// terminal may have taken the bytes, in this process or in a child that inherited the descriptor. The flags of the file
/// description do not change, because others share the description.
///
/// | Descriptor | Read by |
/// |---|---|
/// | socket | `recv` with `MSG_DONTWAIT` |
/// | pipe | `preadv2` with `RWF_NOWAIT`, from Linux 6.4 on; before, a description of its own, opened as non-blocking |
/// | terminal | a description of its own, opened as non-blocking |
/// | file on a disk | `read`, which waits for the disk and for no other reader |
/// | everything else | `preadv2`, or `read` after a look whether there is something |
///
/// Only the last row leaves a gap, which is the time between the look and the read, for a blocking descriptor that
/// several readers share: the other side of a pseudoterminal, a device, a pipe or terminal of another user on an old
/// kernel. Opening these again would not give the same stream.
///
/// Thread safety: one thread at a time.
package final class NonWaitingInput {
    private enum Way {
        case plain
        case socket
        case withoutWaiting
        case looking
        /// Through an open file description of this object's own, which is non-blocking.
        case own(CInt)
    }

    private var way: Way?

    /// Makes the input of one descriptor.
    ///
    /// - Parameter isOwn: Whether the descriptor has a file description of its own, which is non-blocking.
    package init(isOwn: Bool = false) { way = isOwn ? .plain : nil }

    deinit { if case .own(let number) = way { _ = rl_close(number) } }

    /// Reads the bytes that are there, at most `capacity`.
    ///
    /// - Parameter descriptor: The same one in each call.
    /// - Returns: The number of bytes; 0 at the end of the input; a negative error number, `-EAGAIN` if there is nothing
    ///   to read now.
    package func read(_ descriptor: CInt, _ bytes: UnsafeMutableRawPointer, _ capacity: Int) -> Int {
        while true {
            let way = self.way ?? Self.firstWay(descriptor)
            self.way = way
            switch way {
            case .plain: return Int(rl_read(descriptor, bytes, capacity))
            case .own(let number): return Int(rl_read(number, bytes, capacity))
            case .socket: return Self.receive(descriptor, bytes, capacity)
            case .looking:
                let ready = rl_wait_readable(descriptor, 0)
                if ready <= 0 { return ready < 0 && ready != -EINTR ? Int(ready) : -Int(EAGAIN) }
                return Int(rl_read(descriptor, bytes, capacity))
            case .withoutWaiting:
                let result = Int(rl_read_now(descriptor, bytes, capacity))
                // EPERM and ENOSYS are also the answers of a system call filter.
                if ![-Int(EOPNOTSUPP), -Int(ENOSYS), -Int(EPERM), -Int(EINVAL)].contains(result) { return result }
                self.way = Self.secondWay(descriptor)
            }
        }
    }

    /// Receives the bytes that have arrived at a socket.
    package static func receive(_ socket: CInt, _ bytes: UnsafeMutableRawPointer, _ capacity: Int) -> Int {
        while true {
            let count = recv(socket, bytes, capacity, CInt(MSG_DONTWAIT))
            if count >= 0 { return count }
            if errno != EINTR { return -Int(errno) }
        }
    }

    // MARK: Choosing

    private static func firstWay(_ descriptor: CInt) -> Way {
        var status = stat()
        // The read reports the error.
        guard fstat(descriptor, &status) == 0 else { return .plain }
        switch status.st_mode & S_IFMT {
        case S_IFSOCK: return .socket
        case S_IFREG, S_IFDIR, S_IFBLK: return .plain
        // The kernel's terminals do not know RWF_NOWAIT.
        case S_IFCHR where rl_is_terminal(descriptor): return secondWay(descriptor)
        default: return .withoutWaiting
        }
    }

    private static func secondWay(_ descriptor: CInt) -> Way {
        if let number = reopen(descriptor, O_RDONLY) { return .own(number) }
        return fcntl(descriptor, F_GETFL) & O_NONBLOCK == 0 ? .looking : .plain
    }

    /// Opens the pipe or terminal of a descriptor once more, as non-blocking.
    ///
    /// - Returns: A descriptor of a description of its own, above the standard ones; `nil` if the descriptor is of
    ///   another kind, and if the pipe or terminal is another user's.
    package static func reopen(_ descriptor: CInt, _ access: CInt) -> CInt? {
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { return nil }
        let kind = status.st_mode & S_IFMT
        // To open /dev/ptmx is to make another pseudoterminal, and a device gives each description a stream of its own.
        let isTerminal = kind == S_IFCHR && rl_is_terminal(descriptor) && !isOtherSide(status)
        guard isTerminal || kind == S_IFIFO else { return nil }
        return open("/proc/self/fd/\(descriptor)", access)
    }

    /// Opens a file without waiting for it; `nil` if that fails.
    package static func open(_ path: String, _ access: CInt) -> CInt? {
        let number = RunLoopsLibC.open(path, access | O_NOCTTY | O_NONBLOCK | O_CLOEXEC)
        if number < 0 { return nil }
        if number > STDERR_FILENO { return number }
        // The program, or a child, would take it for a standard stream.
        defer { _ = rl_close(number) }
        let moved = fcntl(number, F_DUPFD_CLOEXEC, STDERR_FILENO + 1)
        return moved < 0 ? nil : moved
    }

    /// Whether a character device is `/dev/ptmx`, the side of a pseudoterminal that a terminal program has.
    private static func isOtherSide(_ status: stat) -> Bool { status.st_rdev == 0x502 }
}
