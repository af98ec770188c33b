// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

// The wrong mix: each name below is ambiguous, and the compiler says so.

import CoreFoundation
import Foundation
import FoundationRunLoop

func mix(_ stream: Stream, _ handle: FileHandle) {
    _ = RunLoop.main
    _ = Timer(timeInterval: 1, repeats: false) { _ in }
    _ = SocketPort()
    _ = NotificationQueue.default
    _ = CFRunLoopGetMain()
    stream.schedule(in: .current, forMode: .default)
    handle.readInBackgroundAndNotify(forModes: [.default])
}
