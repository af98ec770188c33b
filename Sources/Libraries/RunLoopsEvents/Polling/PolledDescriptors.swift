// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

internal import CRunLoopsKernel
internal import RunLoops
internal import RunLoopsLibC
internal import RunLoopsSystem

/// The descriptors that a library asks for, in an epoll of their own.
///
/// A library names all of them each time; the kernel receives only the differences. A number can be closed and given
/// to another file between two looks, and the library does not say so. Each number is therefore confirmed
/// (Documentation/Decisions/0016-glib-as-a-source.md).
struct PolledDescriptors: ~Copyable {
    private let epoll: PrivateDescriptor
    private var watched: Set<CInt>
    /// Whether epoll refuses one of them.
    ///
    /// It is always ready, as a regular file is, or closed, or the system is out of memory. Then the library is asked again
    /// and again rather than never.
    private(set) var hasRefused = false

    init() throws(RunLoop.SystemCallError) {
        let made = rl_epoll_create()
        if made < 0 { throw RunLoop.SystemCallError(call: "epoll_create1", code: -made) }
        epoll = PrivateDescriptor(adopting: made)
        // Set here: a default value beside an initialiser that throws ends the compiler of Swift 6.2.
        watched = []
    }

    /// Readable while any of them is ready.
    var number: CInt { epoll.number }

    /// Makes the epoll wait for what `wanted` says.
    ///
    /// - Returns: Whether it waits for nothing else: if false, a number is another file's now. As long as a duplicate of
    ///   the former file is open, epoll watches that file, and nobody can take it out.
    mutating func update(_ wanted: [pollfd]) -> Bool {
        var isExact = true
        var gone = watched
        hasRefused = false
        for entry in wanted where entry.fd >= 0 {
            // The bits of poll(2) have the same numbers in epoll.
            let bits = UInt32(UInt16(bitPattern: entry.events))
            if gone.remove(entry.fd) != nil {
                if rl_epoll_modify(number, entry.fd, bits, 0) == 0 { continue }
                isExact = false
            }
            if rl_epoll_add(number, entry.fd, bits, 0) == 0 {
                watched.insert(entry.fd)
            } else {
                watched.remove(entry.fd)
                hasRefused = true
            }
        }
        for descriptor in gone {
            // ENOENT: the number is another file's. EBADF: the descriptor was closed.
            if rl_epoll_remove(number, descriptor) != 0 { isExact = false }
            watched.remove(descriptor)
        }
        return isExact
    }

    /// Notes in `polled` what each is ready for now.
    static func look(_ polled: inout [pollfd]) {
        // After an error (EINTR, ENOMEM) the next look finds what is ready.
        if poll(&polled, nfds_t(polled.count), 0) < 0 { for index in polled.indices { polled[index].revents = 0 } }
    }
}
