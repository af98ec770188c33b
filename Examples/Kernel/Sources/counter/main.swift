// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

// An eventfd that a thread without a loop writes to: a C library's worker, a driver, an audio callback.

import CKernelNews
import Glibc
import RunLoops

let frames = eventfd(0, CInt(EFD_NONBLOCK | EFD_CLOEXEC))
guard frames >= 0 else { fatalError("eventfd: errno \(errno)") }
var total: UInt64 = 0
let source = RunLoop.DescriptorSource(frames) { source, _ in
    var count: UInt64 = 0
    // Without the read the descriptor stays ready, and the loop does not sleep.
    guard read(source.descriptor, &count, 8) == 8 else { return }
    total += count
    if total == 1000 { RunLoop.main.stop() }
}
try RunLoop.main.add(source, in: .common)

var worker = pthread_t()
pthread_create(
    &worker, nil,
    { @Sendable _ in
        for _ in 0..<1000 { eventfd_write(frames, 1) }
        return nil
    }, nil)
RunLoop.main.run()
print("\(total) frames")
