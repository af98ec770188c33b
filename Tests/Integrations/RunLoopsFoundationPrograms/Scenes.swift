// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import CoreFoundation
import Foundation
import RunLoops
import RunLoopsDispatch
import RunLoopsFoundation

// MARK: What Foundation has

/// Each of Foundation's parts that needs the main loop, once.
@MainActor
func playItems(_ driver: Driver) throws {
    let said = Said()
    let items = try Items(said)
    driver.drive { items.isDone }
    print(items.report)
}

/// Things of Foundation that are under way.
@MainActor
final class Items {
    private let said: Said
    private let repeating: Foundation.Timer
    private let process = Process()
    private let pipe = Pipe()
    private var stream: CFReadStream?
    private var kept: [Any] = []

    private static let expected = [
        "asap notification", "idle notification", "main actor", "main queue", "performed", "performed by a thread",
        "process",
        "readable", "source of a thread", "stream", "timer in the common modes", "timer of a thread",
    ]

    init(_ said: Said) throws {
        self.said = said
        repeating = .scheduledTimer(withTimeInterval: 0.01, repeats: true) { _ in said("repeating timer") }
        let common = Foundation.Timer(timeInterval: 0.001, repeats: false) { _ in said("timer in the common modes") }
        Theirs.main.add(common, forMode: .common)
        Theirs.main.perform { said("performed") }
        notify()
        startThread()
        readBytes()
        pipe.fileHandleForReading.readabilityHandler = { handle in
            if !handle.availableData.isEmpty { said("readable") }
            handle.readabilityHandler = nil
        }
        try pipe.fileHandleForWriting.write(contentsOf: Data("bytes".utf8))
        process.executableURL = URL(fileURLWithPath: "/bin/true")
        process.terminationHandler = { _ in
            Theirs.main.perform { said("process") }
            CFRunLoopWakeUp(CFRunLoopGetMain())
        }
        try process.run()
        DispatchQueue.main.async { said("main queue") }
        Task { @MainActor in said("main actor") }
    }

    private func notify() {
        let center = NotificationCenter.default
        for (name, style) in [("asap", NotificationQueue.PostingStyle.asap), ("idle", .whenIdle)] {
            let name = Notification.Name("\(name) notification")
            kept.append(center.addObserver(forName: name, object: nil, queue: nil) { [said] in said($0.name.rawValue) })
            NotificationQueue.default.enqueue(Notification(name: name), postingStyle: style)
        }
    }

    private func startThread() {
        let said = said
        let source = TheirSource { said("source of a thread") }
        kept.append(source)
        onThread {
            usleep(20_000)
            // Nobody is woken for it: the date shows on the descriptor that the loop sleeps on.
            let date = Date(timeIntervalSinceNow: 0.01)
            let timer = Foundation.Timer(fire: date, interval: 0, repeats: false) { _ in said("timer of a thread") }
            Theirs.main.add(timer, forMode: .default)
            usleep(40_000)
            Theirs.main.perform { said("performed by a thread") }
            CFRunLoopWakeUp(CFRunLoopGetMain())
            usleep(20_000)
            source.signalAndWake()
        }
    }

    private func readBytes() {
        guard let bytes = CFDataCreate(nil, [1, 2, 3], 3) else { return }
        let stream: CFReadStream = CFReadStreamCreateWithData(nil, bytes)
        var context = CFStreamClientContext()
        context.info = Unmanaged.passUnretained(said).toOpaque()
        CFReadStreamSetClient(
            stream, CFStreamEventType.hasBytesAvailable.rawValue,
            { stream, _, info in
                var byte: UInt8 = 0
                guard let info, CFReadStreamRead(stream, &byte, 1) == 1, byte == 1 else { return }
                Unmanaged<Said>.fromOpaque(info).takeUnretainedValue()("stream")
                CFReadStreamClose(stream)
            }, &context)
        CFReadStreamScheduleWithRunLoop(stream, CFRunLoopGetMain(), kCFRunLoopDefaultMode)
        CFReadStreamOpen(stream)
        self.stream = stream
    }

    private var once: [String] { said.all.filter { $0 != "repeating timer" }.sorted() }

    var isDone: Bool { said.count("repeating timer") >= 20 && once.count >= Self.expected.count }

    /// What has come, and in how many parts of its expected number.
    var report: String {
        repeating.invalidate()
        return once == Self.expected ? "all" : once.joined(separator: ", ")
    }
}

// MARK: Runs inside runs

/// A run of Foundation's loop, which a timer does not end.
private func runTheirs() { _ = Theirs.main.run(mode: .default, before: Date(timeIntervalSinceNow: 0.005)) }

/// Foundation's loop run in a callout of its own, and this package's loop run there.
@MainActor
func playNested() {
    let said = Said()
    let ticks = Foundation.Timer.scheduledTimer(withTimeInterval: 0.005, repeats: true) { _ in said("tick") }
    let isDone = Said()
    // Runs Foundation's loop inside a callout that its own loop makes.
    let outer = Foundation.Timer(timeInterval: 0.001, repeats: false) { _ in
        let before = said.count("tick")
        while said.count("tick") < before + 3 { runTheirs() }
        DispatchQueue.main.async { said("main queue in Foundation's nested run") }
        while said.count("main queue in Foundation's nested run") == 0 {
            runTheirs()
        }
        isDone("theirs")
    }
    Theirs.main.add(outer, forMode: .default)
    Driver.run.drive { isDone.count("theirs") == 1 }
    print("Foundation's loop in its own callout: served")

    // Runs this package's loop inside each kind of Foundation's callouts.
    let nest: @Sendable (String) -> Void = { name in
        MainActor.assumeIsolated {
            let before = said.count("tick")
            var ours = 0
            let timer = Ours.Timer(.every(.milliseconds(2))) { _ in ours += 1 }
            Ours.main.add(timer, in: .default)
            Driver.run.drive { said.count("tick") >= before + 3 && ours >= 3 }
            timer.invalidate()
            isDone(name)
        }
    }
    let timer = Foundation.Timer(timeInterval: 0.001, repeats: false) { _ in nest("in a timer") }
    Theirs.main.add(timer, forMode: .default)
    Driver.run.drive { isDone.count("in a timer") == 1 }
    // Performed before a sleep, by an observer of this package's.
    Theirs.main.perform { nest("in a closure") }
    Driver.run.drive { isDone.count("in a closure") == 1 }
    // In a poll, at the exit.
    Theirs.main.perform { nest("in a poll") }
    Driver.poll.drive { isDone.count("in a poll") == 1 }
    let source = TheirSource { nest("in a source") }
    source.signal()
    Driver.run.drive { isDone.count("in a source") == 1 }
    // Two levels.
    Theirs.main.perform {
        MainActor.assumeIsolated {
            Theirs.main.perform { nest("two levels deep") }
            Driver.run.drive { isDone.count("two levels deep") == 1 }
            isDone("outer level")
        }
    }
    Driver.run.drive { isDone.count("outer level") == 1 }
    print(isDone.all.dropFirst().joined(separator: ", "))

    // Foundation's loop in a callout of this package's.
    var result = ""
    let ours = Ours.Timer(.after(.zero)) { _ in
        let before = said.count("tick")
        while said.count("tick") < before + 3 { runTheirs() }
        result = "served"
    }
    Ours.main.add(ours, in: .default)
    Driver.run.drive { !result.isEmpty }
    print("Foundation's loop in a callout of this package's: \(result)")
    ticks.invalidate()
}

// MARK: Turns

/// How often the loop wakes while Foundation's main loop has nothing to do.
@MainActor
func playIdle() {
    let timer = Foundation.Timer.scheduledTimer(withTimeInterval: 3600, repeats: true) { _ in }
    let source = TheirSource {}
    Ours.main.run(in: .default, for: .milliseconds(100))
    var wakes = 0
    let observer = Ours.Observer(.afterWaiting) { _, _ in wakes += 1 }
    Ours.main.add(observer, in: .common)
    let turns = FoundationGuest.turnCount
    Ours.main.run(in: .default, for: .seconds(1))
    // The end of the sleep at the run's limit is one, after the one turn before the sleep.
    print(
        "idle: \(wakes - 1) wake-ups, \(FoundationGuest.turnCount - turns - 1) turns of Foundation's loop beside the first"
    )

    // A timer that fires ten times makes as many sleeps end, and no more turns than a few each.
    let said = Said()
    wakes = 0
    let ticks = Foundation.Timer.scheduledTimer(withTimeInterval: 0.02, repeats: true) { _ in said("tick") }
    let end = TheirSource {}
    while said.all.count < 10 {
        Ours.main.run(in: .default, for: .milliseconds(1000), returnsAfterSource: true)
    }
    print("ten fires: at most 40 wake-ups: \(wakes <= 40)")
    for one in [timer, ticks] { one.invalidate() }
    for one in [source, end] { one.invalidate() }
}

/// The time by which fires of Foundation's timers are late; for the benchmark table.
@MainActor
func playLateness() {
    var late: [Double] = []
    let began = Date()
    let recorded = Said()
    let timer = Foundation.Timer(fire: began.addingTimeInterval(0.1), interval: 0.005, repeats: true) { _ in
        let passed = -began.timeIntervalSinceNow - 0.1
        recorded("\(passed.truncatingRemainder(dividingBy: 0.005) * 1000)")
    }
    Theirs.main.add(timer, forMode: .default)
    Driver.run.drive { recorded.all.count >= 1000 }
    late = recorded.all.compactMap(Double.init).sorted()
    print(
        "lateness of 1,000 fires in ms: median \(late[late.count / 2]), p99 \(late[late.count * 99 / 100]), max \(late.last ?? 0)"
    )
    var hops: [Double] = []
    for _ in 0..<1000 {
        let sent = Said()
        let began = DispatchTime.now().uptimeNanoseconds
        onThread {
            Theirs.main.perform { sent("hop") }
            CFRunLoopWakeUp(CFRunLoopGetMain())
        }
        while sent.all.isEmpty { Ours.main.run(in: .default, until: nil, returnsAfterSource: true) }
        hops.append(Double(DispatchTime.now().uptimeNanoseconds - began) / 1e6)
    }
    hops.sort()
    print("perform of a new thread in ms: median \(hops[500]), p99 \(hops[990])")
    let turns = FoundationGuest.turnCount
    let before = DispatchTime.now().uptimeNanoseconds
    var count = 0
    let ours = Ours.Timer(.every(.microseconds(10))) { _ in
        count += 1
        if count == 20_000 { Ours.main.stop() }
    }
    Ours.main.add(ours, in: .default)
    Ours.main.run()
    let each = (DispatchTime.now().uptimeNanoseconds - before) / 20_000
    print(
        "a turn of this loop with a timer of 10 µs: \(each) ns, \(FoundationGuest.turnCount - turns) turns of Foundation's in 20,000"
    )
}

// MARK: Modes

@MainActor
func playModes() {
    let said = Said()
    let mode = Ours.Mode("Dragging")
    let theirs = Theirs.Mode("Dragging")
    // In Foundation's mode of that name alone.
    let own = Foundation.Timer(timeInterval: 0.001, repeats: true) { _ in said("own") }
    Theirs.main.add(own, forMode: theirs)
    let other = Foundation.Timer(timeInterval: 0.001, repeats: true) { _ in said("default") }
    Theirs.main.add(other, forMode: .default)
    let common = Foundation.Timer(timeInterval: 0.001, repeats: true) { _ in said("common") }
    Theirs.main.add(common, forMode: .common)
    // Keeps the mode from being empty.
    Ours.main.add(Ours.Timer(.every(.seconds(3600))) { _ in }, in: mode)

    func seen(_ inMode: Ours.Mode) -> String {
        _ = said.take()
        Ours.main.run(in: inMode, for: .milliseconds(200))
        return Set(said.take()).sorted().joined(separator: ", ")
    }
    print("default mode:", seen(.default))
    print("a mode that is not common:", seen(mode))
    FoundationGuest.serve(in: mode)
    print("the same after serve(in:):", seen(mode))
    let dragging = Ours.Mode("Common dragging")
    try Ours.main.addCommonMode(dragging)
    print("a common mode:", seen(dragging))
    for timer in [own, other, common] { timer.invalidate() }
    // A closure for a common mode that another thread posts while the loop sleeps there.
    onThread {
        usleep(20_000)
        Theirs.main.perform(inModes: [Theirs.Mode("Common dragging")]) {
            said("closure of a thread")
            MainActor.assumeIsolated { Ours.main.stop() }
        }
        CFRunLoopWakeUp(CFRunLoopGetMain())
    }
    print("woken there:", Ours.main.run(in: dragging, until: nil) == .stopped, said.take().joined())
}

// MARK: Sources and the main queue

/// A run that ends after a source ends after a source of Foundation's.
@MainActor
func playSources() {
    let said = Said()
    let source = TheirSource { said("performed") }
    onThread {
        usleep(20_000)
        source.signalAndWake()
    }
    var results: [Ours.RunResult] = []
    while said.all.isEmpty {
        results.append(Ours.main.run(in: .default, until: nil, returnsAfterSource: true))
    }
    print("woken by a thread:", results.last == .handledSource)
    // Signalled without a wake-up, in a callout of this loop: served before the sleep.
    _ = said.take()
    Ours.main.perform { source.signal() }
    print(
        "signalled in a closure:",
        Ours.main.run(in: .default, until: nil, returnsAfterSource: true) == .handledSource,
        said.take().count)
    // Several at once, in order, once each.
    let others = [3, 1, 2].map { order in TheirSource(order: order) { said("\(order)") } }
    Ours.main.perform { for other in others { other.signal() } }
    while said.all.count < 3 { Ours.main.run(in: .default, until: nil, returnsAfterSource: true) }
    Ours.main.run(in: .default, for: .milliseconds(20))
    print("several:", said.take().joined(separator: " "))
    // A source of this loop that a callout of Foundation's signals without a wake-up is not left to the next wake-up.
    let ours = Ours.Source { _ in
        said("ours")
        Ours.main.stop()
    }
    Ours.main.add(ours, in: .default)
    Theirs.main.perform { ours.signal() }
    print(
        "signalled by Foundation's closure:", Ours.main.run(in: .default, until: nil) == .stopped,
        said.take().joined())
    source.invalidate()
    for other in others { other.invalidate() }
}

/// Work of the main queue is done once, in order, beside Foundation's items.
@MainActor
func playMainQueue() {
    let said = Said()
    let ticks = Foundation.Timer.scheduledTimer(withTimeInterval: 0.001, repeats: true) { _ in said("tick") }
    let count = 20_000
    onThread {
        for number in 0..<count {
            DispatchQueue.main.async {
                said("\(number)")
                if number == count - 1 { MainActor.assumeIsolated { Ours.main.stop() } }
            }
            if number % 100 == 0 { usleep(100) }
        }
    }
    Ours.main.run()
    let numbers = said.all.compactMap { Int($0) }
    print(
        "\(numbers.count) blocks, in order: \(numbers == Array(0..<count)), timer beside them: \(said.count("tick") > 0)"
    )
    ticks.invalidate()
}

/// This package's loop is a guest in Foundation's: Foundation's loop serves what is Foundation's, and nobody spins.
@MainActor
func playHosted() throws {
    let guest = try MainQueueGuest()
    let said = Said()
    let timer = Foundation.Timer.scheduledTimer(withTimeInterval: 0.02, repeats: true) { _ in said("theirs") }
    Ours.main.add(Ours.Timer(.every(.milliseconds(20))) { _ in said("ours") }, in: .default)
    while said.count("theirs") < 5 || said.count("ours") < 5 {
        _ = Theirs.main.run(mode: .default, before: .distantFuture)
    }
    timer.invalidate()
    let idle = Ours.Observer(.afterWaiting) { _, _ in said("awake") }
    Ours.main.add(idle, in: .default)
    let until = Date(timeIntervalSinceNow: 1)
    _ = said.take()
    while until.timeIntervalSinceNow > 0 { _ = Theirs.main.run(mode: .default, before: until) }
    print(
        "both are served; at most two wake-ups for each fire of this loop's timer: \(said.count("awake") <= 2 * said.count("ours") + 2)"
    )
    guest.invalidate()
}
