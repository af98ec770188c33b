// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import RunLoops

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// Standard input as a descriptor source of the main loop: a terminal, a pipe, a socket or a file alike.
@MainActor
final class StandardInput {
    /// What one look at the descriptor gave.
    enum Chunk {
        case bytes([UInt8])
        case end
    }

    /// The item to add to the loop.
    ///
    /// Once the input has ended it is invalid: an end stays readable for ever, and would wake the loop for ever.
    let source: RunLoop.DescriptorSource

    init(handler: @escaping @MainActor (Chunk) -> Void) {
        source = .mainActor(STDIN_FILENO, label: "standard input") { source, _ in
            guard let bytes = Self.readOnce() else { return }
            if bytes.isEmpty {
                source.invalidate()
                handler(.end)
            } else {
                handler(.bytes(bytes))
            }
        }
    }

    /// Opens the null device for each of the three standard descriptors that is closed.
    ///
    /// Call before anything else is opened. The system gives the lowest free number, so that otherwise somebody's pipe
    /// or eventfd would become standard input, and we would read it.
    nonisolated static func openClosedDescriptors() {
        for descriptor in STDIN_FILENO...STDERR_FILENO where fcntl(descriptor, F_GETFD) == -1 {
            _ = open("/dev/null", O_RDWR)
        }
    }

    /// One read, which does not block, since the source said that there is something.
    ///
    /// Standard input is not made non-blocking: its description is shared with the shell and with whatever comes after
    /// us.
    ///
    /// - Returns: what there was, empty at the end; nil where there was nothing after all.
    private static func readOnce() -> [UInt8]? {
        var buffer: [UInt8] = []
        var error: CInt = 0
        buffer = [UInt8](unsafeUninitializedCapacity: 4096) { space, count in
            let result = read(STDIN_FILENO, space.baseAddress, space.count)
            error = result < 0 ? errno : 0
            count = max(0, result)
        }
        // EAGAIN, EINTR: a process that shares the description took it, or a signal came; the source is called again.
        if error == EAGAIN || error == EINTR { return nil }
        // Any other error is an end: EIO, for one, is what a terminal gives after it hung up.
        return buffer
    }
}
