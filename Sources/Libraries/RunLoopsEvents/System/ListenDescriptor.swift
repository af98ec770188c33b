// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

internal import CRunLoopsKernel
public import RunLoops
internal import RunLoopsLibC

/// A descriptor that the service manager, such as systemd, has opened for the program: socket activation.
///
/// ```swift
/// for socket in try ListenDescriptor.inherited() where socket.name == "http" {
///     try loop.add(SocketListener(adopting: socket) { _, event in … }, in: .default)
/// }
/// ```
///
/// Corresponds to `sd_listen_fds_with_names(3)`. Thread safety: a value; any thread.
public struct ListenDescriptor: Hashable, Sendable {
    /// The number, from 3 on; the program closes the descriptor.
    public let descriptor: CInt
    /// The descriptor's name in the unit (`FileDescriptorName=`), such as `http.socket`; `unknown` if the manager gives none.
    public let name: String

    /// The descriptors that the program was started with, in the unit's order; none without socket activation.
    ///
    /// Each descriptor is made close-on-exec: the processes that the program starts do not inherit it. A process with
    /// another number than `LISTEN_PID` gets none.
    ///
    /// - Parameter unsetting: Whether `LISTEN_FDS`, `LISTEN_PID` and `LISTEN_FDNAMES` are removed, so that a second
    ///   call, and other libraries, get none. Call this before the program has other threads, which may be reading the
    ///   environment.
    /// - Throws: ``ServiceManagerError/environment(variable:value:)`` if a number is malformed, or there are more or
    ///   fewer names than descriptors; ``ServiceManagerError/system(_:)`` with `EBADF` if a descriptor is not open.
    /// - Complexity: O(n) in the descriptors.
    public static func inherited(unsetting: Bool = true) throws(ServiceManagerError) -> [ListenDescriptor] {
        // SD_LISTEN_FDS_START
        try inherited(from: 3, unsetting: unsetting)
    }

    /// Returns the descriptors that the program was started with, from the number `first` on.
    ///
    /// For tests, in which the number 3 is in use.
    package static func inherited(
        from first: CInt, unsetting: Bool
    ) throws(ServiceManagerError) -> [ListenDescriptor] {
        defer { if unsetting { ServiceEnvironment.unset("LISTEN_FDS", "LISTEN_PID", "LISTEN_FDNAMES") } }
        guard try ServiceEnvironment.isForThisProcess("LISTEN_PID", orElse: false),
            let count = try ServiceEnvironment.number("LISTEN_FDS", CInt(0)...CInt.max - first)
        else { return [] }
        var names: [String]?
        if let text = ServiceEnvironment.value("LISTEN_FDNAMES"), count > 0 {
            names = text.split(separator: ":", omittingEmptySubsequences: false).map { String($0) }
            guard names?.count == Int(count) else { throw .environment(variable: "LISTEN_FDNAMES", value: text) }
        }
        var descriptors: [ListenDescriptor] = []
        for number in 0..<count {
            try checkService("fcntl", fcntl(first + number, F_SETFD, FD_CLOEXEC) < 0 ? -errno : 0)
            descriptors.append(ListenDescriptor(descriptor: first + number, name: names?[Int(number)] ?? "unknown"))
        }
        return descriptors
    }
}

extension SocketListener {
    /// A listener on a socket of the service manager, whose closure runs on the thread that makes it.
    ///
    /// The socket is closed when the listener is invalidated; a Unix socket's file is not removed, because it belongs
    /// to the manager.
    ///
    /// - Parameters:
    ///   - socket: The socket, which no other code may close.
    ///   - label: The name in descriptions and tools; the socket's name, if `nil`.
    ///   - fileID: Where the listener was made.
    ///   - line: Where the listener was made.
    ///   - handler: Called with the listener and what happened.
    /// - Throws: `ENOTSOCK` if it is not a socket, `EINVAL` if it does not listen for connections: then it stays open.
    public convenience init(
        adopting socket: ListenDescriptor, label: String? = nil, fileID: StaticString = #fileID, line: UInt = #line,
        handler: @escaping (SocketListener, Event) -> Void
    ) throws(RunLoop.SystemCallError) {
        try self.init(try socket.take(), .here(label ?? socket.name, fileID, line), handler)
    }

    /// A listener on a socket of the service manager, whose closure may run on any thread.
    ///
    /// The parameters are those of ``init(adopting:label:fileID:line:handler:)``.
    public static func sendable(
        adopting socket: ListenDescriptor, label: String? = nil, fileID: StaticString = #fileID, line: UInt = #line,
        handler: @escaping @Sendable (SocketListener, Event) -> Void
    ) throws(RunLoop.SystemCallError) -> SocketListener {
        try SocketListener(try socket.take(), .anywhere(label ?? socket.name, fileID, line), handler)
    }

    /// A listener on a socket of the service manager, whose closure runs on the main actor.
    ///
    /// The parameters are those of ``init(adopting:label:fileID:line:handler:)``.
    public static func mainActor(
        adopting socket: ListenDescriptor, label: String? = nil, fileID: StaticString = #fileID, line: UInt = #line,
        handler: @escaping @MainActor (SocketListener, Event) -> Void
    ) throws(RunLoop.SystemCallError) -> SocketListener {
        try SocketListener(try socket.take(), .mainThread(label ?? socket.name, fileID, line)) { listener, event in
            MainActor.assumeIsolated { handler(listener, event) }
        }
    }
}

extension ListenDescriptor {
    /// The descriptor, once it is known to be a socket that accepts connections.
    fileprivate func take() throws(RunLoop.SystemCallError) -> Descriptor {
        var listens: CInt = 0
        var size = socklen_t(MemoryLayout<CInt>.size)
        let result = getsockopt(descriptor, SOL_SOCKET, SO_ACCEPTCONN, &listens, &size)
        try check("getsockopt", result < 0 ? -errno : 0)
        try check("accept4", listens == 0 ? -EINVAL : 0)
        try check("fcntl", rl_make_nonblocking(descriptor))
        return Descriptor(descriptor)
    }
}
