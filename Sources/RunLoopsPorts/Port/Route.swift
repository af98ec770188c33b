/// A way to a port, for a sender: its queue in this process, or a socket.
///
/// All members may be used by any thread.
protocol Route: AnyObject, Sendable {
    /// Hands a message over, waiting for room until `deadline`.
    ///
    /// Returns the handle of the channel on which an answer will come from another process; 0 for none.
    @discardableResult
    func send(_ delivery: Delivery, until deadline: Int64) throws(PortError) -> UInt64
    /// A socket on which another process, who calls it by `handle`, can send to the same port.
    func export(_ handle: UInt64) throws(PortError) -> MessageDescriptor
    /// Whether nothing sent this way can arrive any more; `false` if that is not known.
    var isDead: Bool { get }
}
