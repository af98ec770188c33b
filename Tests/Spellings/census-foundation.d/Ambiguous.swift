// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

// The wrong mix: each line below is an error.

import CoreFoundation
import Foundation
import FoundationRunLoop

func mix() {
    _ = RunLoop.main
    _ = Timer(timeInterval: 1, repeats: false) { _ in }
    _ = SocketPort()
    _ = NotificationQueue.default
    _ = CFRunLoopGetMain()
}
