// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

public import RunLoops

extension SocketStream {
    /// An event that a ``SocketStream`` reports.
    public enum Event: Hashable, Sendable {
        /// Bytes were received: at least one, at most 64 KiB at a time.
        case received([UInt8])
        /// The other side has finished sending.
        ///
        /// The other side may still read: written bytes are still sent.
        case ended
        /// The output buffer was full and is empty now: writing can continue.
        case drained
        /// Both sides have sent everything and ended.
        ///
        /// The last event; the stream is invalidated.
        case closed
        /// The connection is broken: `ECONNRESET` or `EPIPE` if the other side has closed it early, `ETIMEDOUT` and
        /// others of `tcp(7)`.
        ///
        /// The last event; the stream is invalidated, and unsent bytes are lost.
        case failed(RunLoop.SystemCallError)
    }
}
