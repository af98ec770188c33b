public import RunLoops

extension SocketStream {
    /// What a ``SocketStream`` tells.
    public enum Event: Hashable, Sendable {
        /// Bytes have come: never none, at most 64 KiB at a time.
        case received([UInt8])
        /// The other side sends no more.
        ///
        /// It may still read: what is written goes on to be sent.
        case ended
        /// The output buffer was full and is empty: write on.
        case drained
        /// Both sides have sent all and said so.
        ///
        /// The last event; the stream is invalidated.
        case closed
        /// The connection is broken: `ECONNRESET` or `EPIPE` if the other side has gone in the middle, `ETIMEDOUT` and others
        /// of `tcp(7)`.
        ///
        /// The last event; the stream is invalidated, and what was not sent is lost.
        case failed(RunLoop.SystemCallError)
    }
}
