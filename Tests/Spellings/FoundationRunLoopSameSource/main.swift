// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

// One source, built twice: with Foundation's own loop and with this package's. Both have to say the same, wherever Foundation
// on Linux does what Apple documents. Where the two differ on purpose, FoundationRunLoopTests says so.

#if FOUNDATION_RUN_LOOP
import FoundationRunLoop
#else
import Foundation
#endif

/// What happens, in its order; the main thread's.
nonisolated(unsafe) var lines: [String] = []

func say(_ line: String) { lines.append(line) }

/// Runs for a moment, and on until `isDone`: only a bug takes minutes.
func settle(until isDone: () -> Bool = { true }) {
    let limit = Date(timeIntervalSinceNow: 300)
    repeat { RunLoop.current.run(until: Date(timeIntervalSinceNow: 0.02)) } while !isDone() && Date() < limit
}

func settle(until line: String) { settle { lines.contains(line) } }

func runs() {
    let loop = RunLoop.current
    say("same loop: \(loop === RunLoop.main) \(loop == RunLoop.current)")
    say("mode outside: \(loop.currentMode?.rawValue ?? "none")")
    say("an unknown mode runs: \(loop.run(mode: RunLoop.Mode("unknown"), before: .distantFuture))")
    say("the common modes run: \(loop.run(mode: .common, before: .distantFuture))")
    say("limit of an unknown mode: \(String(describing: loop.limitDate(forMode: RunLoop.Mode("unknown"))))")
    loop.perform { say("closure in \(RunLoop.current.currentMode?.rawValue ?? "none")") }
    loop.perform(inModes: [RunLoop.Mode("private")]) { say("closure of a private mode") }
    loop.perform(inModes: [.default, .common]) { say("second closure") }
    loop.perform {
        say("third closure")
        RunLoop.current.perform { say("closure of a closure") }
    }
    settle(until: "closure of a closure")
}

func timers() {
    let date = Date(timeIntervalSinceNow: 1000)
    let once = Timer(fire: date, interval: 5, repeats: false) { _ in say("fired") }
    say("once: \(once.timeInterval) \(once.fireDate == date) \(once.isValid) \(once.tolerance)")
    once.fire()
    say("once, fired by hand: \(once.isValid)")
    once.fire()
    let repeating = Timer(fire: date, interval: 5, repeats: true) { timer in say("repeating \(timer.isValid)") }
    say("repeating: \(repeating.timeInterval) \(repeating.fireDate == date)")
    repeating.fire()
    repeating.fire()
    say("repeating, fired by hand: \(repeating.isValid) \(repeating.fireDate == date)")
    repeating.invalidate()
    repeating.invalidate()
    repeating.fire()
    say("invalid: \(repeating.isValid)")

    // Each a little later than the one before, so that the order is not the order of adding.
    let start = Date(timeIntervalSinceNow: 0.01)
    for (name, delay) in [("third", 0.003), ("first", 0.001), ("second", 0.002)] {
        let timer = Timer(fire: start + delay, interval: 0, repeats: false) { _ in say("timer \(name)") }
        RunLoop.current.add(timer, forMode: .common)
        RunLoop.current.add(timer, forMode: .default)
    }
    nonisolated(unsafe) let counted = UnsafeMutablePointer<Int>.allocate(capacity: 1)
    counted.initialize(to: 0)
    let ticks = Timer.scheduledTimer(withTimeInterval: 0.002, repeats: true) { timer in
        counted.pointee += 1
        if counted.pointee == 3 { timer.invalidate() }
    }
    settle { !ticks.isValid && lines.contains("timer third") }
    say("ticks: \(counted.pointee) \(ticks.isValid)")
    counted.deallocate()
    let past = Timer(fire: .distantPast, interval: 0, repeats: false) { _ in say("past") }
    RunLoop.current.add(past, forMode: .default)
    let future = Timer(fire: .distantFuture, interval: 1, repeats: true) { _ in say("never") }
    RunLoop.current.add(future, forMode: .default)
    settle(until: "past")
    say("the future: \(future.isValid) \(past.isValid)")
    future.invalidate()
}

func notifications() {
    let name = Notification.Name("n")
    let observer = NotificationCenter.default.addObserver(forName: name, object: nil, queue: nil) { notification in
        say("notification \(notification.userInfo?["text"] as? String ?? "")")
    }
    func post(_ text: String, _ style: NotificationQueue.PostingStyle) {
        let notification = Notification(name: name, object: nil, userInfo: ["text": text])
        NotificationQueue.default.enqueue(notification, postingStyle: style)
    }
    post("now", .now)
    post("replaced", .asap)
    post("soon", .asap)
    settle(until: "notification soon")
    post("replaced", .whenIdle)
    post("idle", .whenIdle)
    settle(until: "notification idle")
    post("taken back", .whenIdle)
    NotificationQueue.default.dequeueNotifications(matching: Notification(name: name), coalesceMask: .onName)
    settle()
    NotificationCenter.default.removeObserver(observer)
}

func nested() {
    RunLoop.current.perform {
        say("outer in \(RunLoop.current.currentMode?.rawValue ?? "none")")
        RunLoop.current.perform(inModes: [RunLoop.Mode("inner")]) {
            say("inner in \(RunLoop.current.currentMode?.rawValue ?? "none")")
        }
        let timer = Timer(timeInterval: 1000, repeats: false) { _ in }
        RunLoop.current.add(timer, forMode: RunLoop.Mode("inner"))
        say("inner ran: \(RunLoop.current.run(mode: RunLoop.Mode("inner"), before: Date(timeIntervalSinceNow: 0.02)))")
        timer.invalidate()
        say("outer again in \(RunLoop.current.currentMode?.rawValue ?? "none")")
    }
    settle(until: "outer again in kCFRunLoopDefaultMode")
}

// Something to wait for.
let keeper = Timer(timeInterval: 100_000, repeats: false) { _ in }
keeper.fireDate = Date(timeIntervalSinceNow: 100_000)
RunLoop.current.add(keeper, forMode: .default)
runs()
timers()
notifications()
nested()
print(lines.joined(separator: "\n"))
