// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

// A weather station: sensors on a thread of their own, a log on another, the display on the main thread.
//
// It uses each part of RunLoopsConcurrency and asks a port, in Swift 6 mode, with nothing that is unsafe or unchecked.
// It ends by itself, and prints the same at each run.

import AsyncAlgorithms
import Foundation
import RunLoops
import RunLoopsConcurrency
import RunLoopsPorts

// Foundation has another one.
import class RunLoops.RunLoop

@main struct Station {
    static func main() async throws {
        // The one line: all of main, and the main actor, stay on the main thread, with the main loop under them.
        RunLoop.adoptMain()
        let display = Display()
        display.show("the station starts")
        let sensors = Sensors(on: await startThread(named: "sensors"))
        try await measure(sensors, display)
        try await listen(to: sensors, display)
        try await keepTime(sensors, display)
        try await askTheThread(sensors, display)
        try await askTheArchive(on: sensors.loop, display)
        await writeTheLog(display)
        try waitWithoutAsync(display)
        display.show("the station ends, \(display.count) lines shown")
    }
}

// MARK: - State that lives on a thread

/// The display belongs to the main thread.
@MainActor final class Display {
    private(set) var count = 0

    func show(_ line: String) {
        // Would trap on any other thread.
        MainActor.preconditionIsolated()
        precondition(RunLoop.current === RunLoop.main, "the main actor is on the main thread")
        count += 1
        print(line)
    }
}

/// The sensors belong to their thread: a driver that only one thread may use is safe in here.
actor Sensors: RunLoopActor {
    nonisolated let runLoopExecutor: RunLoop.Executor
    nonisolated var loop: RunLoop { runLoopExecutor.loop }
    private let driver = Driver()
    private(set) var readings: [Int] = []

    init(on loop: RunLoop) { runLoopExecutor = loop.executor }

    func read() -> Int {
        let value = driver.measure()
        readings.append(value)
        return value
    }

    func average() -> Int { readings.isEmpty ? 0 : readings.reduce(0, +) / readings.count }

    /// A callout of the loop is on the right thread too: no hop, no wait.
    nonisolated func readFromCallout() -> Int { assumeIsolated { $0.read() } }
}

/// Not for sharing.
final class Driver {
    private var last = 10

    func measure() -> Int {
        last += 2
        return last
    }
}

/// The log has a thread of its own, by way of a global actor.
@globalActor actor LogActor: RunLoopActor {
    static let shared = LogActor()
    nonisolated let runLoopExecutor: RunLoop.Executor

    private init() {
        let started = Started()
        startThread(named: "log") { started.loop(RunLoop.current) }
        runLoopExecutor = started.wait().executor
    }
}

@LogActor final class Log {
    private var lines: [String] = []

    func write(_ line: String) { lines.append(line) }
    var text: String { lines.joined(separator: ", ") }
}

// MARK: - What the station does

/// Ticks of the sensors' loop; a reading at each, and what is read goes to the display.
@MainActor func measure(_ sensors: Sensors, _ display: Display) async throws {
    var left = 3
    for await _ in sensors.loop.ticks(every: .milliseconds(5), tolerance: .milliseconds(1)) {
        display.show("measured \(await sensors.read())")
        left -= 1
        if left == 0 { break }
    }
    // From a timer's callout, on the sensors' thread.
    let reading = await withCheckedContinuation { continuation in
        sensors.loop.add(
            .sendable(.after(.milliseconds(1))) { _ in continuation.resume(returning: sensors.readFromCallout()) },
            in: .common)
    }
    display.show("a callout measured \(reading)")
}

/// A pipe, a signal and the loop's activities, as sequences; two of them merged into one.
@MainActor func listen(to sensors: Sensors, _ display: Display) async throws {
    enum News: Sendable, Equatable {
        case bytes
        case button
    }
    let pipe = Pipe()
    let bytes = try sensors.loop.readiness(of: pipe.fileHandleForReading.fileDescriptor)
    let (button, presses) = sensors.loop.performs()
    let exits = RunLoop.main.activities(.exit, in: "drawing")

    try pipe.fileHandleForWriting.write(contentsOf: Data("rain".utf8))
    button.signal()
    sensors.loop.wakeUp()
    var heard: [News] = []
    for await news in merge(bytes.map { _ in News.bytes }, presses.map { News.button }) {
        // The descriptor stays ready until it is read.
        if news == .bytes, !heard.contains(.bytes) {
            display.show("heard \(String(decoding: pipe.fileHandleForReading.availableData, as: UTF8.self))")
        }
        if !heard.contains(news) { heard.append(news) }
        if heard.count == 2 { break }
    }
    display.show("heard from \(heard.count) places")

    // A run of a mode of its own, nested in the one under main, as a task waits for it.
    let drawing = RunLoop.Source.mainActor { _ in }
    RunLoop.main.add(drawing, in: "drawing")
    let result = try await RunLoop.main.run(in: "drawing", for: .milliseconds(2))
    for await _ in exits { break }
    drawing.invalidate()
    display.show("drawing \(result)")
}

/// The loop's clock: sleeps with tolerance, limits of time, cancellation.
@MainActor func keepTime(_ sensors: Sensors, _ display: Display) async throws {
    let clock = sensors.loop.clock
    let start = clock.now
    try await Task.sleep(for: .milliseconds(5), tolerance: .milliseconds(5), clock: clock)
    display.show("slept enough: \(start.duration(to: clock.now) >= .milliseconds(5))")
    let average = try await RunLoop.withTimeout(.seconds(20), clock: clock) { await sensors.average() }
    display.show("in time: \(average)")
    do {
        try await RunLoop.withTimeout(.milliseconds(1), clock: clock) { try await clock.sleep(for: .seconds(3600)) }
    } catch is RunLoop.TimeoutError {
        display.show("too late, as it should be")
    }
    let sleeper = Task { try await clock.sleep(for: .seconds(3600)) }
    sleeper.cancel()
    if case .failure(let error) = await sleeper.result { display.show("cancelled: \(error is CancellationError)") }
}

/// Closures and tasks on the sensors' thread, the urgent before the others.
@MainActor func askTheThread(_ sensors: Sensors, _ display: Display) async throws {
    let isOwn = try await sensors.loop.result { !Thread.isMainThread && RunLoop.current === sensors.loop }
    display.show("a thread of its own: \(isOwn)")
    let executor = sensors.runLoopExecutor
    let sum = await withTaskGroup(of: Int.self) { group in
        // All of them wait while the thread is busy with the first.
        group.addTask(executorPreference: executor) { 0 }
        for number in 1...3 { group.addTask(executorPreference: executor, priority: .medium) { number } }
        var sum = 0
        for await number in group { sum += number }
        return sum
    }
    display.show("the tasks' sum is \(sum)")
}

/// Questions to a port on the sensors' thread, whose answers come by way of the main loop: no thread waits.
@MainActor func askTheArchive(on loop: RunLoop, _ display: Display) async throws {
    let (port, questions) = try loop.messages()
    let archive = Task {
        for await question in questions {
            // A question without an answer is dropped with its right to answer, and the asker gets an error.
            if question.text != "tomorrow" {
                try question.replyTo?.send(RunLoop.MessagePort.Message(text: "\(question.text) it was dry"))
            }
        }
    }
    let answer = try await port.sender.request(
        RunLoop.MessagePort.Message(text: "yesterday"), on: .main, within: .seconds(20))
    display.show("the archive: \(answer.text)")
    do {
        _ = try await port.sender.request(
            RunLoop.MessagePort.Message(text: "tomorrow"), on: .main, within: .seconds(20))
    } catch RunLoop.PortError.noReply {
        display.show("the archive knows nothing of tomorrow")
    }
    port.invalidate()
    try await archive.value
    do {
        _ = try await port.sender.request(RunLoop.MessagePort.Message(text: "yesterday"), on: .main)
    } catch RunLoop.PortError.dead {
        display.show("the archive is closed")
    }
}

@LogActor func writeTheLog(_ display: Display) async {
    let log = Log()
    for word in ["one", "two", "three"] { log.write(word) }
    await display.show("logged \(log.text)")
}

/// Synchronous code that needs an async result, on a thread of its own: it blocks that thread, and its loop goes on.
@MainActor func waitWithoutAsync(_ display: Display) throws {
    let answer = Started()
    startThread(named: "synchronous") {
        let loop = RunLoop.current
        // A function, because an async closure has no thread of its own and may not ask for its loop.
        let isOnLoop: @Sendable () -> Bool = { RunLoop.current === loop }
        let task = Task(executorPreference: loop.executor) { isOnLoop() }
        precondition(loop.run(until: task), "the task has run on this thread")
        answer.loop(loop)
    }
    _ = answer.wait()
    display.show("synchronous code got its answer")
}
