// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import CRunLoopsKernel
import Glibc
import RunLoops
import RunLoopsTestSupport
import Testing

@testable import RunLoopsEvents

/// A DNS server on the loopback, at the one port that `resolv.conf` can name: 53.
///
/// Ends with its process: only in an exit test.
final class NameServer: Sendable {
    /// The answers of the server to the questions for one name.
    enum Behaviour: Sendable {
        /// The address of each family; `nil` for none.
        case addresses(four: [UInt8]?, six: [UInt8]?)
        /// An address of IPv4, and none of IPv6; the answer waits for the permit.
        case held(Permit, four: [UInt8])
        /// A response code without addresses.
        case code(UInt8)
        /// Bytes that are not an answer.
        case wrong
        case lost
    }

    /// An address of this process's own: other tests have servers at the same time.
    static var address: String {
        let number = getpid()
        return "127.\(53 + (number >> 16 & 0x3F)).\(number >> 8 & 0xFF).\(number & 0xFF)"
    }
    let questions = Locked(0)

    /// Starts to answer; a name without a behaviour does not exist.
    init(_ behaviours: [String: Behaviour]) throws {
        let socket = try check("socket", Self.bound())
        _ = TestThread { [questions] in
            var room = [UInt8](repeating: 0, count: 1500)
            while true {
                var peer = sockaddr_in()
                var length = socklen_t(MemoryLayout<sockaddr_in>.size)
                let count = withUnsafeMutablePointer(to: &peer) {
                    $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                        recvfrom(socket, &room, room.count, 0, $0, &length)
                    }
                }
                guard count > 12 else { continue }
                questions.increment()
                let question = Array(room[..<count])
                guard let (answer, permit) = Self.answer(question, behaviours) else { continue }
                permit?.wait()
                withUnsafePointer(to: &peer) {
                    _ = $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                        sendto(socket, answer, answer.count, 0, $0, length)
                    }
                }
            }
        }
    }

    /// A socket at the server's address, or a negative error number.
    static func bound() -> CInt {
        let descriptor = Glibc.socket(AF_INET, CInt(SOCK_DGRAM.rawValue) | CInt(SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0, let address = try? RunLoop.SocketAddress.internet(Self.address, port: 53) else {
            return -errno
        }
        let result = address.bytes.withUnsafeBytes {
            bind(descriptor, $0.assumingMemoryBound(to: sockaddr.self).baseAddress, socklen_t($0.count))
        }
        if result == 0 { return descriptor }
        let error = errno
        close(descriptor)
        return -error
    }

    private static func answer(_ question: [UInt8], _ behaviours: [String: Behaviour]) -> ([UInt8], Permit?)? {
        // The header has 12 bytes; then the labels of the name, a zero, and the type and class.
        var labels: [String] = []
        var place = 12
        while question[place] != 0 {
            let end = place + 1 + Int(question[place])
            labels.append(String(decoding: question[(place + 1)..<end], as: UTF8.self))
            place = end
        }
        let wantsFour = question[place + 2] == 1
        let asked = question[12..<(place + 5)]
        func answer(_ code: UInt8, _ data: [UInt8]?) -> [UInt8] {
            let count = UInt8(data == nil ? 0 : 1)
            var bytes = [question[0], question[1], 0x81, 0x80 | code, 0, 1, 0, count, 0, 0, 0, 0] + asked
            // The name of the question, its type and class, a minute, and the address.
            if let data { bytes += [0xC0, 12, 0, wantsFour ? 1 : 28, 0, 1, 0, 0, 0, 60, 0, UInt8(data.count)] + data }
            return bytes
        }
        switch behaviours[labels.joined(separator: ".")] {
        case .addresses(let four, let six): return (answer(0, wantsFour ? four : six), nil)
        case .held(let permit, let four): return wantsFour ? (answer(0, four), permit) : (answer(0, nil), nil)
        case .code(let code): return (answer(code, nil), nil)
        case .wrong: return (Array(question[0..<2]) + [0xFF, 0xFF, 1, 2, 3], nil)
        case .lost: return nil
        case nil: return (answer(3, nil), nil)
        }
    }
}

/// Gives the calling thread, and the threads that it makes, an `/etc` in which the resolver asks ``NameServer`` alone, once.
///
/// - Parameter seconds: How long the resolver waits for an answer. A test that expects an answer takes the longest time that glibc
///   knows, its default: on a busy machine the server may get no processor for some seconds.
func useNameServer(hosts: String = "", timeout seconds: Int = 30) {
    #expect(mountForThisThread("/etc"))
    for (name, text) in [
        ("resolv.conf", "nameserver \(NameServer.address)\noptions timeout:\(seconds) attempts:1\n"),
        ("nsswitch.conf", "hosts: files dns\n"), ("hosts", hosts),
    ] {
        let file = open("/etc/\(name)", O_WRONLY | O_CREAT | O_CLOEXEC, 0o644)
        #expect(write(file, text, text.utf8.count) == text.utf8.count)
        close(file)
    }
}

extension Trait where Self == ConditionTrait {
    /// Skips the test where this process must not mount, or cannot have the port of a DNS server.
    static var needsNameServer: Self {
        .enabled("unshare(CLONE_NEWNS), mount or bind to port 53 is refused") {
            let descriptor = NameServer.bound()
            if descriptor >= 0 { close(descriptor) }
            return descriptor >= 0 && TestThread.run { mountForThisThread("/tmp") }
        }
    }
}
