// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

internal import CRunLoopsKernel
public import RunLoops
internal import Synchronization

extension RunLoop.MessagePort {
    /// A file descriptor that is sent with a message, and is closed when its last reference is released.
    ///
    /// A received message owns its descriptors: when the message is dropped, they are closed. ``take()`` hands a
    /// descriptor over to the caller.
    ///
    /// Thread safety: all members may be used by any thread.
    public final class Descriptor: Sendable {
        private let storage: Atomic<CInt>

        /// Takes over `descriptor`, which is closed with this object.
        ///
        /// - Precondition: `descriptor` is not negative.
        public init(adopting descriptor: CInt) {
            require(
                descriptor >= 0, "A message was given the descriptor \(descriptor): was the result of open checked?")
            storage = Atomic(descriptor)
        }

        /// Makes a copy of `descriptor`; the caller keeps the original.
        ///
        /// - Throws: the error of `fcntl(2)`, such as `EBADF` and `EMFILE`.
        public convenience init(duplicating descriptor: CInt) throws(RunLoop.SystemCallError) {
            self.init(adopting: try check("fcntl", rl_port_duplicate(descriptor)))
        }

        deinit {
            let descriptor = storage.load(ordering: .relaxed)
            if descriptor >= 0 { _ = rl_close(descriptor) }
        }

        /// The number, for use while this object is held; -1 once the number was taken.
        public var number: CInt { storage.load(ordering: .acquiring) }

        /// Returns the number, which the caller has to close from now on; nil if the number was taken before.
        public func take() -> CInt? {
            let descriptor = storage.exchange(-1, ordering: .acquiringAndReleasing)
            return descriptor >= 0 ? descriptor : nil
        }
    }
}
