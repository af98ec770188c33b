// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import Glibc
import RunLoops
import RunLoopsTestSupport
import Testing

@testable import RunLoopsTerminal

/// System calls on descriptors that are not terminals.
@Suite(.ownThread) struct DeviceTests {
    @Test func `Writing to a full pipe fails with EAGAIN and does not block`() throws {
        var ends: [CInt] = [0, 0]
        try #require(pipe(&ends) == 0)
        defer { for end in ends { close(end) } }
        let bytes = [UInt8](repeating: 1, count: 1 << 16)
        var written = 0
        while true {
            let count = bytes.withUnsafeBytes { Device.send($0, to: ends[1], isBlocking: Device.isBlocking(ends[1])) }
            if count < 0 { break }
            written += count
        }
        #expect(errno == EAGAIN && written > 0)
    }

    @Test func `An eventfd or epoll descriptor is not accepted as a stream`() throws {
        // Functions that the module of the C library does not have.
        let eventfd = unsafeBitCast(
            try #require(dlsym(nil, "eventfd")), to: (@convention(c) (CUnsignedInt, CInt) -> CInt).self)
        let epollCreate = unsafeBitCast(
            try #require(dlsym(nil, "epoll_create1")), to: (@convention(c) (CInt) -> CInt).self)
        for descriptor in [eventfd(0, O_CLOEXEC), epollCreate(O_CLOEXEC)] {
            defer { close(descriptor) }
            #expect(throws: RunLoop.SystemCallError(call: "fstat", code: EBADF)) {
                _ = try Device.reopen(descriptor, O_RDONLY)
            }
        }
        let reading = open("/dev/null", O_RDONLY | O_CLOEXEC)
        defer { close(reading) }
        #expect(throws: RunLoop.SystemCallError.self) { _ = try Device.reopen(reading, O_WRONLY) }
        let again = try Device.reopen(reading, O_RDONLY)
        #expect(again > STDERR_FILENO)
        close(again)
    }
}
