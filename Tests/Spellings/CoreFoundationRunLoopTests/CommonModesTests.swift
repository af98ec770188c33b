// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import CoreFoundationRunLoop
import RunLoopsTestSupport
import Testing

/// Core Foundation's answers to calls that trap in a `RunLoop`.
@Suite(.ownThread) struct CommonModesTests {
    @Test func `Runs in the common modes finish at once and print one warning per process`() async {
        let result = await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) {
            TestThread.run {
                let source = CFRunLoopTimerCreateWithHandler(nil, 0, 0, 0, 0) { _ in Issue.record("fired") }
                CFRunLoopAddTimer(CFRunLoopGetCurrent(), source, .commonModes)
                for seconds in [0, 1, .infinity] {
                    #expect(CFRunLoopRunInMode(.commonModes, seconds, false) == .finished)
                }
                #expect(CFRunLoopGetNextTimerFireDate(CFRunLoopGetCurrent(), .commonModes) == 0)
            }
        }
        let said = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
        #expect(
            said.split(separator: "\n").count { $0.contains("Common is a mark on modes, not a mode") } == 1, "\(said)")
    }

    @Test func `A timer or an observer of another loop is not added`() {
        TestThread.run {
            let home = CFRunLoopGetCurrent()
            let timer = CFRunLoopTimerCreateWithHandler(nil, .infinity, 0, 0, 0) { _ in }
            let observer = CFRunLoopObserverCreateWithHandler(nil, CFRunLoopActivity.allActivities.rawValue, true, 0) {
                _, _ in
            }
            CFRunLoopAddTimer(home, timer, .defaultMode)
            CFRunLoopAddObserver(home, observer, .defaultMode)
            // SAFETY: the thread that made the items waits until this one has ended.
            nonisolated(unsafe) let items = (timer: timer, observer: observer)
            TestThread.run {
                let loop = CFRunLoopGetCurrent()
                CFRunLoopAddTimer(loop, items.timer, .defaultMode)
                CFRunLoopAddObserver(loop, items.observer, .defaultMode)
                #expect(!CFRunLoopContainsTimer(loop, items.timer, .defaultMode))
                #expect(!CFRunLoopContainsObserver(loop, items.observer, .defaultMode))
            }
            #expect(CFRunLoopContainsTimer(home, timer, .defaultMode))
            #expect(CFRunLoopContainsObserver(home, observer, .defaultMode))
            CFRunLoopTimerInvalidate(timer)
            CFRunLoopObserverInvalidate(observer)
        }
    }

    @Test func `A block for an empty array of modes is released at once`() {
        TestThread.run {
            weak var seen: Token?
            do {
                let token = Token()
                seen = token
                let none = CFArrayCreate(nil, nil, 0, nil)
                CFRunLoopPerformBlock(CFRunLoopGetCurrent(), none) { withExtendedLifetime(token) {} }
            }
            #expect(seen == nil)
        }
    }
}

private final class Token {}
