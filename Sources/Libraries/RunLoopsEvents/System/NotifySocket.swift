// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

internal import CRunLoopsKernel
internal import RunLoops
internal import RunLoopsSystem

/// Tells the service manager, such as systemd, how the program is doing.
///
/// ```swift
/// let manager = try NotifySocket.fromEnvironment()
/// try manager?.send(.ready, .status("Serving"))
/// ```
///
/// Each ``send(_:descriptors:)-(NotifySocket.State...,_)`` is one datagram to the socket that the environment variable
/// `NOTIFY_SOCKET` names. Between two datagrams no descriptor and no thread is in use. The call never waits for the
/// service manager.
///
/// Corresponds to `sd_notify(3)`, and needs no library of systemd's. Addresses of the kind `vsock:` are refused.
///
/// Thread safety: a value; any thread.
public struct NotifySocket: Hashable, Sendable {
    /// The path of the socket; for a name in the abstract namespace, `@` and the name.
    ///
    /// Bytes that are not UTF-8 are shown as U+FFFD.
    public let path: String
    private let address: RunLoop.SocketAddress

    /// Names the socket at a path, or, if the text begins with `@`, the socket with an abstract name.
    ///
    /// - Throws: ``ServiceManagerError/environment(variable:value:)`` if it is neither, or has more than 107 bytes.
    public init(_ path: String) throws(ServiceManagerError) {
        guard let text = SystemText(path) else { throw .environment(variable: "NOTIFY_SOCKET", value: path) }
        try self.init(text)
    }

    private init(_ text: SystemText) throws(ServiceManagerError) {
        path = text.decoded
        let isAbstract = text.bytes.first == UInt8(ascii: "@")
        guard isAbstract || text.isAbsolute, text.bytes.count > 1,
            let address = try? RunLoop.SocketAddress.unix(bytes: isAbstract ? [0] + text.bytes.dropFirst() : text.bytes)
        else { throw .environment(variable: "NOTIFY_SOCKET", value: path) }
        self.address = address
    }

    /// Returns the socket of the service manager that has started the program; `nil` if there is no such manager.
    ///
    /// - Parameter unsetting: Whether the variable is removed, so that processes that the program starts do not tell
    ///   the service manager too. It accepts their datagrams with `NotifyAccess=all` alone. Remove the variable before
    ///   the program has other threads, which may be reading the environment.
    /// - Throws: ``ServiceManagerError/environment(variable:value:)`` if the variable does not name a Unix socket.
    public static func fromEnvironment(unsetting: Bool = false) throws(ServiceManagerError) -> NotifySocket? {
        guard let path = ServiceEnvironment.bytes("NOTIFY_SOCKET") else { return nil }
        if unsetting { ServiceEnvironment.unset("NOTIFY_SOCKET") }
        return try NotifySocket(path)
    }

    /// Sends states to the service manager, all in one datagram.
    ///
    /// - Parameters:
    ///   - states: The states, which are sent in this order.
    ///   - descriptors: Descriptors of which the service manager gets copies; for ``State/fdStore``.
    /// - Throws: ``ServiceManagerError/state(name:value:)`` if a state is malformed; then nothing is sent. If the
    ///   socket is gone (`ENOENT`, `ECONNREFUSED`) or full (`EAGAIN`), or a descriptor is not open (`EBADF`),
    ///   ``ServiceManagerError/system(_:)``. The program can go on in all cases.
    /// - Complexity: O(n) in the length of the states, and three system calls.
    public func send(_ states: State..., descriptors: [CInt] = []) throws(ServiceManagerError) {
        try send(states, descriptors: descriptors)
    }

    /// Sends states to the service manager, all in one datagram.
    ///
    /// The parameters are those of ``send(_:descriptors:)-(NotifySocket.State...,_)``.
    public func send(_ states: [State], descriptors: [CInt] = []) throws(ServiceManagerError) {
        var lines: [String] = []
        for state in states { lines += try state.lines() }
        var text = lines.joined(separator: "\n")
        let result = address.bytes.withUnsafeBytes { address in
            text.withUTF8 { text in
                rl_datagram_send(
                    address.baseAddress, UInt32(address.count), text.baseAddress, text.count, descriptors,
                    descriptors.count)
            }
        }
        try checkService("sendmsg", result, of: "to \(path)")
    }
}
