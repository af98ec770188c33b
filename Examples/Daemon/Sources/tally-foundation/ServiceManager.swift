// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import Foundation

/// What systemd wants to know and what it gives, as `sd_notify(3)` and `sd_listen_fds(3)` describe it.
struct ServiceManager {
    private let path: String

    init?() {
        guard let path = ProcessInfo.processInfo.environment["NOTIFY_SOCKET"] else { return nil }
        self.path = path
        unsetenv("NOTIFY_SOCKET")
    }

    /// Sends a datagram; whether somebody hears it does not matter to the daemon.
    func send(_ text: String) {
        let file = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue), 0)
        if file < 0 { return }
        defer { close(file) }
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        let bytes = Array(path.utf8)
        guard bytes.count < MemoryLayout.size(ofValue: address.sun_path) else { return }
        withUnsafeMutableBytes(of: &address.sun_path) { room in
            room.copyBytes(from: bytes)
            if bytes.first == UInt8(ascii: "@") { room[0] = 0 }
        }
        let size = socklen_t(MemoryLayout.offset(of: \sockaddr_un.sun_path)! + bytes.count)
        let result = withUnsafePointer(to: &address) { address in
            address.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                sendto(file, text, text.utf8.count, Int32(MSG_NOSIGNAL), $0, size)
            }
        }
        if result < 0 { log(.warning, "the service manager is deaf: \(String(cString: strerror(errno)))") }
    }

    func sendReloading() {
        var now = timespec()
        clock_gettime(CLOCK_MONOTONIC, &now)
        send("RELOADING=1\nMONOTONIC_USEC=\(now.tv_sec * 1_000_000 + now.tv_nsec / 1000)")
    }

    /// In microseconds.
    static var watchdogInterval: Int? {
        let environment = ProcessInfo.processInfo.environment
        guard let interval = environment["WATCHDOG_USEC"].flatMap({ Int($0) }) else { return nil }
        return environment["WATCHDOG_PID"].map { $0 == "\(getpid())" } ?? true ? interval : nil
    }

    static var inheritedSockets: [Int32] {
        let environment = ProcessInfo.processInfo.environment
        guard environment["LISTEN_PID"] == "\(getpid())", let count = environment["LISTEN_FDS"].flatMap({ Int32($0) })
        else { return [] }
        for variable in ["LISTEN_PID", "LISTEN_FDS", "LISTEN_FDNAMES"] { unsetenv(variable) }
        let sockets = Array(3..<3 + count)
        for socket in sockets { _ = fcntl(socket, F_SETFD, FD_CLOEXEC) }
        return sockets
    }
}
