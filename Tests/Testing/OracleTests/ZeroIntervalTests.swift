// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

@preconcurrency import CoreFoundation
import Testing

/// What the real one makes of intervals that ours refuses: Specification 9.17.
@Suite struct ZeroIntervalTests {
    @Test(arguments: [0.0, -1.0]) func `The real CFRunLoop fires a timer without a positive interval once`(
        interval: Double
    ) throws {
        // Every call on it is made here, on one thread, and the loop of that thread is asked for nothing else.
        final class Count { var fires = 0 }
        let count = Count()
        let mode = try #require(CFStringCreateWithCString(nil, "zero interval", CFStringBuiltInEncodings.UTF8.rawValue))
        let timer = try #require(
            CFRunLoopTimerCreateWithHandler(nil, CFAbsoluteTimeGetCurrent(), interval, 0, 0) { _ in count.fires += 1 })
        CFRunLoopAddTimer(CFRunLoopGetCurrent(), timer, mode)
        #expect(!CFRunLoopTimerDoesRepeat(timer))
        CFRunLoopRunInMode(mode, 1, false)
        #expect(count.fires == 1)
        #expect(!CFRunLoopTimerIsValid(timer))
    }
}
