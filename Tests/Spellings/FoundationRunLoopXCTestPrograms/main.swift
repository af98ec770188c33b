// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

// Waits as XCTest does, in Foundation's own loop. Nothing here knows FoundationRunLoopXCTest, which is linked.

import Foundation
import FoundationRunLoop

import class FoundationRunLoop.RunLoop
import class FoundationRunLoop.Timer

final class Seen: @unchecked Sendable { var names: [String] = [] }
let seen = Seen()

// Before the first wait, and after the others below: nothing but the program's own work ends a run of the loop's own.
func ends(_ run: String) {
    let result = CFRunLoopRunInMode(.defaultMode, 0.02, true)
    print(result == .timedOut ? "\(run): until its limit" : "\(run): ended with \(result)")
}
ends("the first run")

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
CFRunLoopTimerInvalidate(timer)
CFRunLoopObserverInvalidate(observer)

// Whatever comes reaches the host, also after a run of the loop's own, for which the loop's descriptor was silent.
let pipe = Pipe()
var context = CFRunLoopSourceContext1()
context.version = 1
context.info = UnsafeMutableRawPointer(bitPattern: Int(pipe.fileHandleForReading.fileDescriptor))
context.getPort = { CInt(Int(bitPattern: $0)) }
context.perform = { _, _, _, _ in
    _ = pipe.fileHandleForReading.readData(ofLength: 1)
    seen.names.append("descriptor")
    return nil
}
let source = withUnsafeMutablePointer(to: &context) {
    // SAFETY: version is 1, so that as many bytes are read as a CFRunLoopSourceContext1 has.
    $0.withMemoryRebound(to: CFRunLoopSourceContext.self, capacity: 1) { CFRunLoopSourceCreate(nil, 0, $0) }
}
CFRunLoopAddSource(CFRunLoopGetMain(), source, .defaultMode)
var rounds = 0
for round in 0..<300 {
    let count = seen.names.count
    switch round % 3 {
    case 0: Thread.detachNewThread { RunLoop.main.perform { seen.names.append("closure") } }
    case 1: Timer.scheduledTimer(withTimeInterval: 0.001, repeats: false) { _ in seen.names.append("timer") }
    default: Thread.detachNewThread { pipe.fileHandleForWriting.write(Data([1])) }
    }
    CFRunLoopRunInMode(.defaultMode, round % 2 == 0 ? 0.0005 : 0, false)
    let end = Date(timeIntervalSinceNow: 300)
    while seen.names.count == count, end.timeIntervalSinceNow > 0 {
        _ = Foundation.RunLoop.main.run(mode: .default, before: end)
    }
    if seen.names.count == count + 1 { rounds += 1 }
}
print("\(rounds) of 300 were served")

// What is due when a run of the loop's own begins is served there. The host's thread has had time to see it before.
RunLoop.main.perform { seen.names.append("closure") }
Timer.scheduledTimer(withTimeInterval: 0.001, repeats: false) { _ in seen.names.append("timer") }
Thread.sleep(forTimeInterval: 0.02)
ends("the last run")
