// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

internal import CRunLoopsKernel
public import RunLoops
internal import RunLoopsLibC

extension RunLoop {
    /// An open file to read from or write to: an end of a pipe, a terminal, a socket, a file on a disk.
    ///
    /// ``InputReader`` and ``OutputWriter`` take a file, and so do ``RunLoops/RunLoop/lines(of:limit:isValidated:in:)`` and its
    /// siblings. The descriptor stays open as long as any of them uses it.
    ///
    /// Corresponds to Foundation's `FileHandle`.
    ///
    /// Thread safety: all members may be used by any thread.
    public final class File: Sendable, CustomStringConvertible {
        private let kept: Guarded<Descriptor?>

        /// Takes over a descriptor, which is closed after the last use of this object and which no other code may
        /// close.
        ///
        /// The descriptor becomes close-on-exec. Whether it blocks does not change.
        ///
        /// - Parameter descriptor: The descriptor.
        /// - Throws: `EBADF` if the descriptor is not open.
        public init(adopting descriptor: CInt) throws(RunLoop.SystemCallError) {
            try check("fcntl", rl_close_on_exec(descriptor))
            kept = Guarded(Descriptor(descriptor))
        }

        /// Makes a file of a descriptor that other code closes, after this object's last use.
        ///
        /// - Parameter descriptor: The descriptor.
        public init(borrowing descriptor: CInt) { kept = Guarded(Descriptor(descriptor, isOurs: false)) }

        /// Makes a file that shares a connected socket.
        ///
        /// - Parameter socket: The socket, which stays open as long as either object is used.
        public init(_ socket: RunLoop.Socket) { kept = Guarded(socket.file) }

        init(_ file: Descriptor) { kept = Guarded(file) }

        /// The standard input of this process.
        public static var standardInput: File { File(borrowing: STDIN_FILENO) }
        /// The standard output of this process.
        public static var standardOutput: File { File(borrowing: STDOUT_FILENO) }
        /// The standard error of this process.
        public static var standardError: File { File(borrowing: STDERR_FILENO) }

        /// The number of the descriptor; `nil` after ``close()``.
        public var descriptor: CInt? { file?.tellNumber() }

        /// Releases the descriptor, which is closed as soon as no reader or writer uses it.
        ///
        /// A child whose standard input is closed sees its end. A second call does nothing.
        ///
        /// A pipe cannot be ended for all processes that hold it: its reader sees the end when the last copy of the
        /// writing end is closed. A child that any thread starts has copies until it calls `exec`, so the end may come
        /// that much later.
        public func close() {
            let released = kept.withLock { kept in
                defer { kept = nil }
                return kept
            }
            withExtendedLifetime(released) {}
        }

        /// The number of the descriptor.
        public var description: String { "<RunLoop.File \(file.map { "\($0.number)" } ?? "closed")>" }

        var file: Descriptor? { kept.withLock { $0 } }

        /// The descriptor, for a source that is being made.
        func descriptor(for user: String) -> Descriptor {
            guard let file else {
                preconditionFailure("\(user) was made of a file that was closed: make it before close().")
            }
            return file
        }
    }
}
