// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import CRunLoopsKernel
import Glibc
import RunLoopsTestSupport

/// A socket like the one at which systemd listens to its services.
final class ServiceManagerStandIn {
    let descriptor: CInt
    /// The path, or the name behind an `@`.
    let path: String

    init(_ path: String) {
        self.path = path
        descriptor = socket(AF_UNIX, CInt(SOCK_DGRAM.rawValue | SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue), 0)
        var storage = [UInt8](repeating: 0, count: Int(RL_ADDRESS_ROOM))
        var name = path.hasPrefix("@") ? "\0" + path.dropFirst() : path
        let length = name.withUTF8 { rl_address_unix(&storage, $0.baseAddress, $0.count) }
        let result = storage.withUnsafeBytes {
            bind(descriptor, $0.assumingMemoryBound(to: sockaddr.self).baseAddress, socklen_t(length))
        }
        precondition(result == 0, "bind: errno \(errno)")
    }

    deinit {
        close(descriptor)
        if !path.hasPrefix("@") { unlink(path) }
    }

    /// The next datagram, in lines; `nil` if there is none.
    func next() -> [String]? {
        rl_wait_readable(descriptor, 0) > 0 ? readText(descriptor).split(separator: "\n").map(String.init) : nil
    }

    /// All datagrams, each as one text.
    func all() -> [String] {
        var texts: [String] = []
        while let lines = next() { texts.append(lines.joined(separator: " ")) }
        return texts
    }

    /// How many descriptors came with the next datagram, and what the first of them says when read.
    func nextDescriptors() -> (count: Int, text: String) {
        var control = [Int](repeating: 0, count: 64)
        var byte = [UInt8](repeating: 0, count: 512)
        return control.withUnsafeMutableBytes { control in
            byte.withUnsafeMutableBytes { byte in
                var part = iovec(iov_base: byte.baseAddress, iov_len: byte.count)
                return withUnsafeMutablePointer(to: &part) { part in
                    var message = msghdr()
                    message.msg_iov = part
                    message.msg_iovlen = 1
                    message.msg_control = control.baseAddress
                    message.msg_controllen = control.count
                    guard recvmsg(descriptor, &message, 0) >= 0, message.msg_controllen > 0 else { return (0, "") }
                    // A header of 16 bytes, and then the numbers.
                    let length = control.load(as: Int.self)
                    let numbers = (0..<(length - 16) / 4).map {
                        control.load(fromByteOffset: 16 + 4 * $0, as: CInt.self)
                    }
                    defer { for number in numbers { close(number) } }
                    return (numbers.count, numbers.first.map { readText($0) } ?? "")
                }
            }
        }
    }
}
