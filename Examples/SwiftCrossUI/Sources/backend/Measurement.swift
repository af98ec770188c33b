// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

// Code of a library below the toolkit. No line of it names this package.

import CoreFoundation
import Dispatch
import Foundation
import Glibc
import Synchronization

/// A moment on the monotonic clock, and milliseconds since.
private typealias Moment = ContinuousClock.Instant

extension Duration {
    fileprivate var milliseconds: Double { self / .milliseconds(1) }
}

/// Measures from a thread of its own, which waits and never touches the main thread in between.
final class Measurement: Sendable {
    struct Result {
        var name: String
        var text: String
        /// Whether the value is as it should be with a guest.
        var isWell: Bool
    }

    private let end: @Sendable ([Result]) -> Void

    init(end: @escaping @Sendable ([Result]) -> Void) { self.end = end }

    func start() {
        Thread {
            // The first frames are GTK's.
            Thread.sleep(forTimeInterval: 1)
            self.end([
                self.idle(), self.mainActor(), self.mainQueue(), self.sleeps(), self.timer(), self.lateness(),
                self.perform(),
            ])
        }.start()
    }

    // MARK: Rows

    /// How often the main thread wakes while nothing is to be done.
    private func idle() -> Result {
        let seconds = 5.0
        let before = Self.switches()
        Thread.sleep(forTimeInterval: seconds)
        let rate = Double(Self.switches() - before) / seconds
        return Result(
            name: "wake-ups of an idle main thread, a second", text: String(format: "%.1f", rate), isWell: rate < 0.5)
    }

    /// How often the main thread has gone to sleep.
    private static func switches() -> Int {
        let status = (try? String(contentsOfFile: "/proc/\(getpid())/task/\(getpid())/status", encoding: .utf8)) ?? ""
        let line = status.split(separator: "\n").first { $0.hasPrefix("voluntary_ctxt_switches:") }
        return line?.split(separator: "\t").last.flatMap { Int($0) } ?? 0
    }

    private func mainActor() -> Result {
        hops("a hop to the main actor, median") { arrived in Task { @MainActor in arrived() } }
    }

    private func mainQueue() -> Result {
        hops("DispatchQueue.main.async, median") { arrived in DispatchQueue.main.async { arrived() } }
    }

    /// Foundation itself does not wake its loop for a closure; the program does, as under Foundation's own loop.
    private func perform() -> Result {
        hops("RunLoop.main.perform of a thread, median") { arrived in
            RunLoop.main.perform(arrived)
            CFRunLoopWakeUp(CFRunLoopGetMain())
        }
    }

    /// The time until something that a thread starts is done on the main thread, which sleeps each time.
    private func hops(_ name: String, _ start: (@escaping @Sendable () -> Void) -> Void) -> Result {
        var delays: [Duration] = []
        for _ in 0..<51 {
            Thread.sleep(forTimeInterval: 0.007)
            let done = DispatchSemaphore(value: 0)
            let delay = Mutex(Duration.zero)
            let began = Moment.now
            start {
                delay.withLock { $0 = began.duration(to: .now) }
                done.signal()
            }
            guard done.wait(timeout: .now() + 2) == .success else {
                return Result(name: name, text: "never", isWell: false)
            }
            delays.append(delay.withLock { $0 })
        }
        let median = delays.sorted()[delays.count / 2].milliseconds
        return Result(name: name, text: String(format: "%.2f ms", median), isWell: median < 5)
    }

    private func sleeps() -> Result {
        let done = DispatchSemaphore(value: 0)
        let began = Moment.now
        let task = Task { @MainActor in
            for _ in 0..<100 { try await Task.sleep(for: .milliseconds(3)) }
            done.signal()
        }
        let isDone = done.wait(timeout: .now() + 10) == .success
        task.cancel()
        let time = began.duration(to: .now).milliseconds
        return Result(
            name: "100 × Task.sleep(3 ms) on the main actor",
            text: isDone ? String(format: "%.0f ms", time) : "not in 10 s",
            isWell: isDone && time < 2000)
    }

    private func timer() -> Result {
        let fires = ticks(every: 0.1, for: 3)
        return Result(
            name: "a Foundation Timer of 100 ms, for 3 s", text: "\(fires.count) ticks",
            isWell: (28...31).contains(fires.count))
    }

    private func lateness() -> Result {
        let name = "Timer of 10 ms: 99 % of 300 ticks late by at most"
        let fires = ticks(every: 0.01, for: 3).sorted()
        guard fires.count > 250 else { return Result(name: name, text: "\(fires.count) ticks", isWell: false) }
        let late = fires[fires.count * 99 / 100].milliseconds
        // The figure is for a quiet machine; a check on a busy one asks for less.
        return Result(name: name, text: String(format: "%.2f ms", late), isWell: late < 20)
    }

    /// How late each tick of a repeating timer of the main loop is.
    private func ticks(every interval: TimeInterval, for seconds: TimeInterval) -> [Duration] {
        let late = Mutex<[Duration]>([])
        // Made here, added from this thread: nothing wakes the main thread for it.
        let first = Date(timeIntervalSinceNow: interval)
        let began = Moment.now.advanced(by: .seconds(first.timeIntervalSinceNow))
        let timer = Timer(fire: first, interval: interval, repeats: true) { _ in
            let since = began.duration(to: .now)
            let tick = (since.milliseconds / (interval * 1000)).rounded(.down)
            late.withLock { $0.append(since - .milliseconds(tick * interval * 1000)) }
        }
        RunLoop.main.add(timer, forMode: .common)
        Thread.sleep(forTimeInterval: seconds + interval / 2)
        timer.invalidate()
        return late.withLock { $0 }
    }
}
