// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

// Devices that come, go and change, as the kernel tells udev.

import CKernelNews
import Glibc
import RunLoops

let socket = netlink_open(NETLINK_KOBJECT_UEVENT, 1)
guard socket >= 0 else { fatalError("netlink: \(String(cString: strerror(errno)))") }
let devices = RunLoop.DescriptorSource(socket, closes: true) { source, _ in
    var bytes = [UInt8](repeating: 0, count: 8192)
    let count = recv(source.descriptor, &bytes, bytes.count, 0)
    guard count > 0 else { return print(errno == ENOBUFS ? "news was lost: look in /sys" : "netlink: errno \(errno)") }
    // The first field is what has happened, as “add@/devices/…”; then come fields as “ACTION=add”.
    let fields = bytes[..<count].split(separator: 0).map { String(decoding: $0, as: UTF8.self) }
    print(fields.first ?? "nothing", fields.first { $0.hasPrefix("SUBSYSTEM=") } ?? "")
}
try RunLoop.main.add(devices, in: .common)
print("listening")
RunLoop.main.run()
