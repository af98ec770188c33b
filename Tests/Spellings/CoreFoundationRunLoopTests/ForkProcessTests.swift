// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import CoreFoundationRunLoop
import Glibc
import RunLoopsTestSupport
import Testing

/// A forked child under Core Foundation's names: it has a loop of its own, and harms none of its parent's.
@Suite(
    .ownThread,
    .disabled(if: Sanitizer.isAny, "a sanitizer copies its locks, and calls a leak what a child inherits"))
struct ForkProcessTests {
    @Test func `CFRunLoopRun in a child runs a new loop`() async {
        await #expect(processExitsWith: .success) {
            TestThread.run {
                let inherited = CFRunLoopGetCurrent()!
                let keeper = CFRunLoopTimerCreateWithHandler(nil, .infinity, 0, 0, 0) { _ in }
                CFRunLoopAddTimer(inherited, keeper, .defaultMode)
                let end = ForkedChild.run {
                    var fired = 0
                    let timer = CFRunLoopTimerCreateWithHandler(nil, 0, 0, 0, 0) { _ in
                        fired += 1
                        CFRunLoopStop(CFRunLoopGetCurrent())
                    }
                    CFRunLoopAddTimer(CFRunLoopGetCurrent(), timer, .commonModes)
                    CFRunLoopRun()
                    return fired == 1 && CFRunLoopGetCurrent() !== inherited
                        && !CFRunLoopContainsTimer(CFRunLoopGetCurrent(), keeper, .defaultMode)
                }
                #expect(end == .good)
                #expect(CFRunLoopGetCurrent() === inherited)
                #expect(CFRunLoopContainsTimer(inherited, keeper, .defaultMode))
                CFRunLoopTimerInvalidate(keeper)
            }
        }
    }

    @Test func `A child that adds a timer to its parent's loop traps and the parent continues`() async {
        let result = await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) {
            TestThread.run {
                let loop = CFRunLoopGetCurrent()
                let end = ForkedChild.run {
                    CFRunLoopAddTimer(loop, CFRunLoopTimerCreateWithHandler(nil, 0, 0, 0, 0) { _ in }, .defaultMode)
                    return true
                }
                #expect(end == .signalled(SIGILL) || end == .signalled(SIGTRAP))
                var fired = 0
                CFRunLoopAddTimer(
                    loop, CFRunLoopTimerCreateWithHandler(nil, 0, 0, 0, 0) { _ in fired += 1 }, .defaultMode)
                CFRunLoopRun()
                #expect(fired == 1)
            }
        }
        expectText(result, "A run loop made before fork() was used in the child process")
        expectText(result, "Call exec after fork")
    }

    @Test func `A child that invalidates its parent's items does not affect the parent`() async {
        await #expect(processExitsWith: .success) {
            TestThread.run {
                let loop = CFRunLoopGetCurrent()
                var (fired, performed) = (0, 0)
                let timer = CFRunLoopTimerCreateWithHandler(nil, 0, 0, 0, 0) { _ in fired += 1 }
                CFRunLoopAddTimer(loop, timer, .defaultMode)
                let observer = CFRunLoopObserverCreateWithHandler(
                    nil, CFRunLoopActivity.entry.rawValue, true, 0
                ) { _, _ in performed += 1 }
                CFRunLoopAddObserver(loop, observer, .commonModes)
                let end = ForkedChild.run {
                    CFRunLoopTimerInvalidate(timer)
                    CFRunLoopObserverInvalidate(observer)
                    return !CFRunLoopTimerIsValid(timer) && !CFRunLoopObserverIsValid(observer)
                }
                #expect(end == .good)
                #expect(CFRunLoopTimerIsValid(timer))
                CFRunLoopRun()
                #expect(fired == 1 && performed == 1)
                CFRunLoopObserverInvalidate(observer)
            }
        }
    }
}
