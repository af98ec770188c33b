// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

// Network interfaces that come, go and change, as the kernel tells them.

import CKernelNews
import Glibc
import RunLoops

let socket = netlink_open(NETLINK_ROUTE, UInt32(RTMGRP_LINK))
guard socket >= 0 else { fatalError("netlink: \(String(cString: strerror(errno)))") }
let links = RunLoop.DescriptorSource(socket, closes: true) { source, _ in
    var bytes = [UInt8](repeating: 0, count: 32_768)
    let count = recv(source.descriptor, &bytes, bytes.count, 0)
    // The kernel drops what a slow program does not take, and says so once.
    guard count > 0 else { return print(errno == ENOBUFS ? "changes were lost: list all" : "netlink: errno \(errno)") }
    bytes[..<count].withUnsafeBytes { messages in
        var start = 0
        while start + MemoryLayout<nlmsghdr>.size + MemoryLayout<ifinfomsg>.size <= messages.count {
            let header = messages.loadUnaligned(fromByteOffset: start, as: nlmsghdr.self)
            let link = messages.loadUnaligned(
                fromByteOffset: start + MemoryLayout<nlmsghdr>.size, as: ifinfomsg.self)
            let isUp = link.ifi_flags & IFF_UP.rawValue != 0
            print(
                "interface \(link.ifi_index)",
                Int(header.nlmsg_type) == RTM_DELLINK ? "is gone" : isUp ? "is up" : "is down")
            start += Int(max(header.nlmsg_len, 16) + 3) & ~3
        }
    }
}
try RunLoop.main.add(links, in: .common)
print("listening")
RunLoop.main.run()
