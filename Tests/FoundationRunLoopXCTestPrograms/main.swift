// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

// Waits as XCTest does, in Foundation's own loop. Nothing here knows FoundationRunLoopXCTest, which is linked.

import Foundation
import FoundationRunLoop

import class FoundationRunLoop.RunLoop
import class FoundationRunLoop.Timer

final class Seen: @unchecked Sendable { var names: [String] = [] }
let seen = Seen()

Timer.scheduledTimer(withTimeInterval: 0.01, repeats: false) { _ in seen.names.append("timer") }
RunLoop.main.perform { seen.names.append("closure") }
Thread.detachNewThread { RunLoop.main.perform { seen.names.append("closure of a thread") } }
while seen.names.count < 3 {
    _ = Foundation.RunLoop.main.run(mode: .default, before: Date(timeIntervalSinceNow: 0.1))
}
print(seen.names.sorted().joined(separator: ", "))

// A wait in this package's own loop, such as a run-loop lock: the stop ends that run, and no run of the guest's.
var stopped = 0
for _ in 0..<300 {
    DispatchQueue.global().async {
        CFRunLoopPerformBlock(CFRunLoopGetMain(), CFRunLoopMode.defaultMode.rawValue) {
            CFRunLoopStop(CFRunLoopGetCurrent())
        }
        CFRunLoopWakeUp(CFRunLoopGetMain())
    }
    if CFRunLoopRunInMode(.defaultMode, 60, false) == .stopped { stopped += 1 } else { break }
}
print("\(stopped) runs were stopped")

// The same wait with a timer: the host's thread, which watches the loop's descriptor, leaves the loop alone.
var fires = 0
var turns = 0
let timer = CFRunLoopTimerCreateWithHandler(nil, CFAbsoluteTimeGetCurrent(), 0.005, 0, 0) { timer in
    fires += 1
    if fires == 20 { CFRunLoopStop(CFRunLoopGetCurrent()) }
}
let observer = CFRunLoopObserverCreateWithHandler(nil, CFRunLoopActivity.beforeTimers.rawValue, true, 0) { _, _ in
    turns += 1
}
CFRunLoopAddTimer(CFRunLoopGetMain(), timer, .defaultMode)
CFRunLoopAddObserver(CFRunLoopGetMain(), observer, .defaultMode)
CFRunLoopRunInMode(.defaultMode, 60, false)
print(turns <= 3 * fires ? "\(fires) fires, no turn without a cause" : "\(fires) fires took \(turns) turns")
