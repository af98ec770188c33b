// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import Glibc
import LoopUI
import LoopUITerminal
import RunLoops
import RunLoopsCalendar
import RunLoopsConcurrency
import RunLoopsDiagnostics
import RunLoopsEvents
import RunLoopsKit
import RunLoopsPorts
import RunLoopsTerminal
import RunLoopsTesting

import class RunLoops.RunLoop

/// A case in virtual time.
private func manual<Value: Ended>(_ name: String, _ body: @escaping @MainActor (ManualRunLoop, Value) throws -> Void)
    -> EndCase
{
    EndCase(name) { (value: Value) in
        try ManualRunLoop.with { manual in
            try body(manual, value)
            manual.advance(by: .seconds(3))
        }
    }
}

private func bits<Value: Ended & FixedWidthInteger>(_ name: String, _ make: @escaping @MainActor (Value) -> some Any)
    -> EndCase
{
    EndCase(name) { (value: Value) in print(make(value)) }
}

// MARK: RunLoops

@MainActor let loopCases: [EndCase] = [
    bits("RunLoops.RunLoop.Activities.init(rawValue:)") { RunLoop.Activities(rawValue: $0) },
    bits("RunLoops.RunLoop.DescriptorEvents.init(rawValue:)") { RunLoop.DescriptorEvents(rawValue: $0) },
    bits("RunLoops.RunLoop.RunResult.init(rawValue:)") { RunLoop.RunResult(rawValue: $0) as Any },
    bits("RunLoops.RunLoop.ClockID.init(rawValue:)") { RunLoop.ClockID(rawValue: $0) as Any },
    bits("RunLoops.RunLoop.SystemCallError.init(call:code:subject:)") {
        RunLoop.SystemCallError(call: "read", code: $0, subject: "of a file")
    },
    manual("RunLoops.RunLoop.Instant.init(nanoseconds:clock:)") { (manual, value: Int64) in
        for base in RunLoop.ClockID.allCases {
            let instant = RunLoop.Instant(nanoseconds: value, clock: base)
            for other in RunLoop.ClockID.allCases {
                _ = (
                    instant.converted(to: other), instant < manual.now(other), instant - instant,
                    manual.now(other) < instant
                )
            }
            for duration in Duration.ends { print(instant + duration, instant - duration) }
            manual.loop.add(RunLoop.Timer(.at(instant, every: .seconds(1))) { $0.invalidate() }, in: .default)
            manual.loop.run(in: .default, until: min(instant, manual.now(base).advanced(by: .seconds(1))))
        }
    },
    manual("RunLoops.RunLoop.DescriptorSource.init(_:for:repeats:closes:label:fileID:line:handler:)") {
        (manual, value: Int32) in
        try manual.loop.add(RunLoop.DescriptorSource(value) { _, _ in }, in: .default)
    },
    manual("RunLoops.RunLoop.Observer.init(_:order:repeats:label:fileID:line:handler:)") { (manual, value: Int) in
        manual.loop.add(RunLoop.Observer(.all, order: value) { _, _ in }, in: .default)
        manual.loop.add(RunLoop.Observer(.all, order: 0) { _, _ in }, in: .default)
    },
    manual("RunLoops.RunLoop.Source.init(order:label:schedule:cancel:fileID:line:handler:)") { (manual, value: Int) in
        let source = RunLoop.Source(order: value) { _ in }
        manual.loop.add(source, in: .default)
        source.signal()
    },
    manual("RunLoops.RunLoop.Timer.init(_:tolerance:label:fileID:line:handler:)") { (manual, value: Duration) in
        for base in RunLoop.ClockID.allCases {
            for schedule in [
                RunLoop.Timer.Schedule.after(value), .after(.zero, every: value > .zero ? value : nil),
                .at(manual.now(base).advanced(by: value)),
            ] {
                let timer = RunLoop.Timer(schedule, tolerance: value) { $0.restart(after: value) }
                manual.loop.add(timer, in: .default)
                manual.loop.runTurn(in: .default)
                print(timer, manual.loop)
                timer.invalidate()
            }
        }
        manual.loop.perform(after: value) {}
        manual.suspend(for: value)
        manual.changeWallClock(by: value)
        _ = manual.loop.run(in: .default, for: min(value, .seconds(1)))
        _ = RunLoop.Timer(.after(.zero, every: value)) { _ in }
    },
    manual("RunLoops.RunLoop.Timer.deadline") { (manual, value: RunLoop.Instant) in
        let timer = RunLoop.Timer(.after(.seconds(1), every: .seconds(1)), tolerance: .seconds(1)) { $0.invalidate() }
        manual.loop.add(timer, in: .default)
        timer.deadline = value
        print(timer)
    },
    manual("RunLoops.RunLoop.Timer.tolerance") { (manual, value: Duration) in
        for interval in [nil, Duration.seconds(1)] {
            let timer = RunLoop.Timer(.after(.seconds(1), every: interval)) { _ in }
            manual.loop.add(timer, in: .default)
            timer.tolerance = value
            print(timer)
        }
    },
    // No initialiser, and asked for all the same: a sleep, the ends of virtual time.
    manual("the clock of a loop") { (manual, value: Duration) in
        let clock = manual.loop.clock
        let task = Task { try await clock.sleep(for: value, tolerance: value) }
        manual.advance(by: value)
        manual.advance(by: value)
        task.cancel()
        print(manual.now, manual.now(.realtime))
    },
    manual("a wait of a loop") { (manual, value: Duration) in
        RunLoop.Timer.ends(manual.loop, value)
    },
]

extension RunLoop.Timer {
    fileprivate static func ends(_ loop: RunLoop, _ value: Duration) {
        let clock = loop.clock
        loop.add(RunLoop.Timer(.at(clock.now.advanced(by: value)), tolerance: value) { _ in }, in: .default)
        _ = loop.nextTimerDeadline(in: .default)
        loop.runUntilIdle()
    }
}

// MARK: RunLoopsKit

@MainActor let kitCases: [EndCase] = [
    manual("RunLoopsKit.RunLoop.Debouncer.init(after:atMost:in:action:)") { (manual, value: Duration) in
        for limit in [nil, value, .seconds(1)] {
            let debouncer = RunLoop.Debouncer(after: value, atMost: limit) {}
            debouncer.call()
            manual.loop.runTurn(in: .default)
            debouncer.call()
        }
    },
    manual("RunLoopsKit.RunLoop.Throttle.init(every:isTrailing:in:action:)") { (manual, value: Duration) in
        let throttle = RunLoop.Throttle(every: value) {}
        for _ in 0..<3 { throttle.call() }
        manual.advance(by: .seconds(1))
    },
    manual("RunLoopsKit.RunLoop.WatchdogTimer.init(limit:in:action:)") { (manual, value: Duration) in
        let watchdog = RunLoop.WatchdogTimer(limit: value) {}
        watchdog.feed()
        manual.advance(by: .seconds(1))
        watchdog.feed()
    },
    manual("RunLoopsKit.RunLoop.DisplayLink.init(framesPerSecond:in:isPaused:handler:)") { (manual, value: Double) in
        let link = RunLoop.DisplayLink(framesPerSecond: value) { _ in }
        manual.advance(by: .microseconds(10))
        link.invalidate()
    },
    manual("RunLoopsKit.RunLoop.DisplayLink.framesPerSecond") { (manual, value: Double) in
        let link = RunLoop.DisplayLink(framesPerSecond: 60) { _ in }
        link.framesPerSecond = value
        manual.advance(by: .microseconds(10))
        link.invalidate()
    },
    manual("RunLoopsKit.RunLoop.IdleQueue.Limits.init(count:time:)") { (manual, value: Int) in
        idle(manual, RunLoop.IdleQueue.Limits(count: value, time: .seconds(1)))
    },
    manual("RunLoopsKit.RunLoop.IdleQueue.Limits.count") { (manual, value: Int) in
        var limits = RunLoop.IdleQueue.Limits()
        limits.count = value
        idle(manual, limits)
    },
    manual("RunLoopsKit.RunLoop.IdleQueue.Limits.time") { (manual, value: Duration) in
        var limits = RunLoop.IdleQueue.Limits()
        limits.time = value
        idle(manual, limits)
    },
    bits("RunLoopsKit.RunLoop.IdleQueue.Priority.init(rawValue:)") { RunLoop.IdleQueue.Priority(rawValue: $0) as Any },
    bits("RunLoopsKit.RunLoop.NotificationQueue.Coalescing.init(rawValue:)") {
        RunLoop.NotificationQueue.Coalescing(rawValue: $0)
    },
    manual("RunLoopsKit.RunLoop.Transaction.init(in:roundLimit:)") { (manual, value: Int) in
        let (transaction, key) = (RunLoop.Transaction(in: [.default], roundLimit: value), Key())
        transaction.mark(key) {}
        transaction.flush()
        manual.loop.runTurn(in: .default)
    },
    EndCase("RunLoopsKit.RunLoopThread.Attributes.init(name:stackSize:nice:schedulingClass:processors:)") {
        (value: Int) in
        try RunLoopThread(RunLoopThread.Attributes(name: "ends", stackSize: value)).endAndJoin()
    },
    EndCase("RunLoopsKit.RunLoopThread.Attributes.stackSize") { (value: Int?) in try thread { $0.stackSize = value } },
    EndCase("RunLoopsKit.RunLoopThread.Attributes.nice") { (value: Int?) in try thread { $0.nice = value } },
    EndCase("RunLoopsKit.RunLoopThread.Attributes.processors") { (value: Int) in try thread { $0.processors = [value] }
    },
    bits("RunLoopsKit.RunLoopThread.Identity.init(number:name:)") { RunLoopThread.Identity(number: $0, name: nil) },
]

private final class Key {}

private func idle(_ manual: ManualRunLoop, _ limits: RunLoop.IdleQueue.Limits) {
    let queue = RunLoop.IdleQueue(limits: limits)
    for delay in [nil] + Duration.ends { queue.add(latestAfter: delay) {} }
    // With no time or no place for a job, a run is bounded and the jobs wait.
    _ = manual.loop.run(in: .default, for: .milliseconds(1))
    queue.invalidate()
}

extension RunLoopThread {
    fileprivate func endAndJoin() {
        stop()
        join()
    }
}

private func thread(_ change: (inout RunLoopThread.Attributes) -> Void) throws {
    var attributes = RunLoopThread.Attributes(name: "ends")
    change(&attributes)
    try RunLoopThread(attributes).endAndJoin()
}

// MARK: RunLoopsEvents

/// Two ends of a pipe, as files.
private func pipeEnds() throws -> (reading: RunLoop.File, writing: RunLoop.File) {
    var ends: [CInt] = [0, 0]
    guard pipe(&ends) == 0 else { throw RunLoop.SystemCallError(call: "pipe", code: errno) }
    return (try RunLoop.File(adopting: ends[0]), try RunLoop.File(adopting: ends[1]))
}

private func socketEnds() throws -> (RunLoop.Socket, RunLoop.Socket) {
    var ends: [CInt] = [0, 0]
    guard socketpair(AF_UNIX, CInt(SOCK_STREAM.rawValue), 0, &ends) == 0 else {
        throw RunLoop.SystemCallError(call: "socketpair", code: errno)
    }
    return (try RunLoop.Socket(adopting: ends[0]), try RunLoop.Socket(adopting: ends[1]))
}

private func poll() { _ = RunLoop.current.run(in: .default, for: .milliseconds(1)) }

private func quick(_ limits: [Child.Limit] = []) throws -> Child {
    try Child.spawn(.path("/bin/true"), input: .null, output: .null, error: .null, limits: limits)
}

@MainActor let eventCases: [EndCase] = [
    EndCase("RunLoopsEvents.Child.Limit.init(_:soft:hard:)") { (value: UInt64) in
        let child = try quick([
            Child.Limit(Int32(bitPattern: UInt32(truncatingIfNeeded: value)), soft: value, hard: value)
        ])
        try RunLoop.current.add(ChildSource(child) { _, _ in RunLoop.current.stop() }, in: .default)
        poll()
    },
    bits("RunLoopsEvents.Child.SpawnError.init(_:_:code:)") { Child.SpawnError(.execute, "program", code: $0) },
    EndCase("RunLoopsEvents.ChildCompletion.init(_:limit:outputWait:timeLimit:label:fileID:line:onLine:handler:)") {
        (value: Duration) in
        for limit in Int.ends {
            let child = try quick()
            let completion = ChildCompletion(child, limit: limit, outputWait: value, timeLimit: value) { _, _ in
                RunLoop.current.stop()
            }
            try RunLoop.current.add(completion, in: .default)
            _ = RunLoop.current.run(in: .default, for: .seconds(1))
            completion.invalidate()
        }
    },
    EndCase("RunLoopsEvents.Child.Terminal.Size.init(columns:rows:width:height:)") { (value: UInt16) in
        let size = Child.Terminal.Size(columns: value, rows: value, width: value, height: value)
        let child = try Child.spawn(.path("/bin/true"), terminal: size)
        try child.terminal?.resize(to: Child.Terminal.Size(columns: value, rows: 1))
        try RunLoop.current.add(ChildSource(child) { _, _ in RunLoop.current.stop() }, in: .default)
        poll()
    },
    bits("RunLoopsEvents.ChildSource.Exit.init(process:status:usage:)") {
        ChildSource.Exit(process: $0, status: .exited(0))
    },
    EndCase("RunLoopsEvents.ChildSource.init(_:reaps:label:fileID:line:handler:)") { (value: Int32) in
        try RunLoop.current.add(ChildSource(value, reaps: false) { _, _ in }, in: .default)
        poll()
    },
    EndCase("RunLoopsEvents.FileFollower.init(_:when:coalescing:label:fileID:line:handler:)") { (value: Duration) in
        let follower = try FileFollower("/tmp/ends-of-nothing", coalescing: value) { _, _ in }
        try RunLoop.current.add(follower, in: .default)
        poll()
        follower.invalidate()
    },
    bits("RunLoopsEvents.FileWatch.Changes.init(rawValue:)") { FileWatch.Changes(rawValue: $0) },
    EndCase("RunLoopsEvents.HostConnector.init(to:within:label:fileID:line:handler:)") { (value: Duration) in
        let connector = try HostConnector(to: .host("127.0.0.1", 9), within: value) { _, _ in }
        try RunLoop.current.add(connector, in: .default)
        poll()
        connector.invalidate()
    },
    EndCase("RunLoopsEvents.FileWatch.init(_:for:recursive:excluding:coalescing:label:fileID:line:handler:)") {
        (value: Duration) in
        let watch = try FileWatch(["/tmp"], coalescing: value) { _, _ in }
        try RunLoop.current.add(watch, in: .default)
        poll()
        watch.invalidate()
    },
    EndCase("RunLoopsEvents.OutputWriter.init(_:highWaterMark:label:fileID:line:handler:)") { (value: Int) in
        let ends = try pipeEnds()
        let writer = OutputWriter(ends.writing, highWaterMark: value) { _, _ in }
        try RunLoop.current.add(writer, in: .default)
        writer.write("text".utf8)
        poll()
        writer.invalidate()
    },
    EndCase("RunLoopsEvents.SocketStream.init(_:highWaterMark:label:fileID:line:handler:)") { (value: Int) in
        let ends = try socketEnds()
        let stream = SocketStream(ends.0, highWaterMark: value) { _, _ in }
        try RunLoop.current.add(stream, in: .default)
        stream.write("text".utf8)
        poll()
        stream.invalidate()
    },
    EndCase("RunLoopsEvents.SocketListener.init(on:backlog:label:fileID:line:handler:)") { (value: Int) in
        try SocketListener(on: .unix("/tmp/ends-\(getpid())"), backlog: value) { _, _ in }.invalidate()
    },
    bits("RunLoopsEvents.SignalSource.Sender.init(process:user:)") { SignalSource.Sender(process: $0, user: 0) },
    EndCase("RunLoopsEvents.SignalSource.init(_:label:fileID:line:handler:)") { (value: Int32) in
        try RunLoop.current.add(SignalSource(value) { _, _ in }, in: .default)
        poll()
    },
    EndCase("RunLoopsEvents.PollSource.Wait.limit") { (value: Duration?) in
        let source = try PollSource(prepare: { $0.limit = value }, dispatch: { _ in RunLoop.current.stop() })
        poll()
        source.invalidate()
    },
    EndCase("RunLoopsEvents.RunLoop.File.init(adopting:)") { (value: Int32) in
        if value > 2 || value < 0 { _ = try RunLoop.File(adopting: value) }
    },
    EndCase("RunLoopsEvents.RunLoop.File.init(borrowing:)") { (value: Int32) in _ = RunLoop.File(borrowing: value) },
    EndCase("RunLoopsEvents.RunLoop.Socket.init(adopting:)") { (value: Int32) in
        if value > 2 || value < 0 { _ = try RunLoop.Socket(adopting: value) }
    },
]

// MARK: RunLoopsPorts

private func port(_ change: (inout RunLoop.MessagePort.Limits) -> Void) throws {
    var limits = RunLoop.MessagePort.Limits()
    change(&limits)
    let port = RunLoop.MessagePort(limits: limits) { _ in nil }
    try RunLoop.current.add(port, in: .default)
    for _ in 0..<3 { try port.sender.send(RunLoop.MessagePort.Message(text: "text"), within: .zero) }
    poll()
    port.invalidate()
}

@MainActor let portCases: [EndCase] = [
    EndCase("RunLoopsPorts.RunLoop.MessagePort.Limits.init(queue:messageSize:descriptors:batch:peers:)") {
        (value: Int) in
        try port { $0 = RunLoop.MessagePort.Limits(queue: value, batch: value, peers: value) }
        try port { $0 = RunLoop.MessagePort.Limits(messageSize: value, descriptors: value) }
    },
    EndCase("RunLoopsPorts.RunLoop.MessagePort.Limits.queue") { (value: Int) in try port { $0.queue = value } },
    EndCase("RunLoopsPorts.RunLoop.MessagePort.Limits.messageSize") { (value: Int) in
        try port { $0.messageSize = value }
    },
    EndCase("RunLoopsPorts.RunLoop.MessagePort.Limits.descriptors") { (value: Int) in
        try port { $0.descriptors = value }
    },
    EndCase("RunLoopsPorts.RunLoop.MessagePort.Limits.batch") { (value: Int) in try port { $0.batch = value } },
    EndCase("RunLoopsPorts.RunLoop.MessagePort.Limits.peers") { (value: Int) in try port { $0.peers = value } },
    EndCase("RunLoopsPorts.RunLoop.MessagePort.Descriptor.init(adopting:)") { (value: Int32) in
        if value > 2 || value < 0 { _ = RunLoop.MessagePort.Descriptor(adopting: value) }
    },
    EndCase("RunLoopsPorts.RunLoop.MessagePort.Descriptor.init(duplicating:)") { (value: Int32) in
        _ = try RunLoop.MessagePort.Descriptor(duplicating: value)
    },
    bits("RunLoopsPorts.RunLoop.MessagePort.Message.init(id:text:descriptors:replyTo:)") {
        RunLoop.MessagePort.Message(id: $0, text: "text").id
    },
    bits("RunLoopsPorts.RunLoop.MessagePort.Message.init(id:bytes:descriptors:replyTo:)") {
        RunLoop.MessagePort.Message(id: $0).id
    },
]

// MARK: RunLoopsCalendar, RunLoopsDiagnostics, RunLoopsTerminal, LoopUITerminal

@MainActor let calendarCases: [EndCase] = [
    EndCase("RunLoopsCalendar.CalendarSchedule.Time.init(hour:minute:second:)") { (value: Int) in
        _ = try CalendarSchedule.Time(hour: value)
        _ = try CalendarSchedule.Time(hour: 0, minute: value)
        _ = try CalendarSchedule.Time(hour: 0, minute: 0, second: value)
    },
    bits("RunLoopsCalendar.CalendarSchedule.Weekday.init(rawValue:)") { CalendarSchedule.Weekday(rawValue: $0) as Any },
    manual("RunLoopsCalendar.CalendarTimer.init(_:tolerance:label:fileID:line:handler:)") { (manual, value: Duration) in
        let schedule = CalendarSchedule.daily(at: try CalendarSchedule.Time(hour: 3), in: .gmt)
        let timer = CalendarTimer(schedule, tolerance: value) { _, _ in }
        try manual.loop.add(timer, in: .default)
        manual.advance(by: .seconds(86_400))
        timer.invalidate()
    },
    manual("RunLoopsCalendar.Date.init(_:)") { (_, value: RunLoop.Instant) in
        print(Date(value.converted(to: .realtime)))
    },
]

@MainActor let terminalCases: [EndCase] = [
    EndCase("RunLoopsTerminal.InputTiming.escapeDelay") { (value: Duration) in
        var timing = InputTiming()
        timing.escapeDelay = value
    },
    EndCase("RunLoopsTerminal.InputTiming.answerTimeout") { (value: Duration) in
        var timing = InputTiming()
        timing.answerTimeout = value
    },
    EndCase("RunLoopsTerminal.InputTiming.sequenceTimeout") { (value: Duration) in
        var timing = InputTiming()
        timing.sequenceTimeout = value
    },
    EndCase("RunLoopsTerminal.InputTiming.init(escapeDelay:answerTimeout:sequenceTimeout:)") { (value: Duration) in
        let timing = InputTiming(escapeDelay: value, answerTimeout: value, sequenceTimeout: value)
        print(timing.escapeDelay, timing.answerTimeout, timing.sequenceTimeout)
    },
    EndCase("RunLoopsTerminal.RawTerminal.init(_:descriptor:in:)") { (value: Int32) in
        do { try RawTerminal(descriptor: value).close() } catch { print(error) }
    },
    EndCase("LoopUITerminal.PictureAbility.cell") { (value: Size) in
        var ability = PictureAbility(.kitty, cell: nil)
        ability.cell = value
    },
    EndCase("LoopUITerminal.PictureAbility.init(_:cell:)") { (value: Size) in
        _ = PictureAbility(.sixel, cell: value)
    },
    EndCase("LoopUITerminal.Terminal.init(rows:descriptor:)") { (value: Int) in print(Terminal(rows: value).size) },
    EndCase("LoopUITerminal.Terminal.rows") { (value: Int) in
        let terminal = Terminal(rows: 3)
        terminal.rows = value
        print(terminal.size)
    },
    EndCase("LoopUITerminal.Terminal.init(descriptor:pictures:)") { (value: Int32) in
        _ = Terminal(descriptor: value).size
    },
]

@MainActor let diagnosticsCases: [EndCase] = [
    EndCase("RunLoopsDiagnostics.RunLoop.Recording.init(capacity:)") { (value: Int) in
        let recording = RunLoop.Recording(capacity: value)
        recording.add(RunLoop.current)
        poll()
        recording.stop()
    },
    EndCase("RunLoopsDiagnostics.RunLoop.Metering.init(every:reporter:)") { (value: Duration?) in
        let metering = RunLoop.Metering(every: value) { _ in { _ in } }
        metering.add(RunLoop.current)
        poll()
        metering.stop()
    },
    EndCase("RunLoopsDiagnostics.RunLoop.Watch.init(limits:pause:watchesRuns:handler:)") { (value: Duration) in
        let watch = RunLoop.Watch(limits: [.timer: value], pause: value) { _ in }
        watch.add(RunLoop.current)
        RunLoop.current.add(RunLoop.Timer(.after(.zero)) { _ in }, in: .default)
        poll()
        watch.stop()
    },
    EndCase("RunLoopsDiagnostics.RunLoop.HangWatch.Options.limit") { (value: Duration) in try watch { $0.limit = value }
    },
    EndCase("RunLoopsDiagnostics.RunLoop.HangWatch.Options.samplingInterval") { (value: Duration) in
        try watch { $0.samplingInterval = value }
    },
    EndCase("RunLoopsDiagnostics.RunLoop.HangWatch.Options.taskLimit") { (value: Duration?) in
        try watch { $0.taskLimit = value }
    },
    EndCase("RunLoopsDiagnostics.RunLoop.HangWatch.Options.signal") { (value: Int32?) in try watch { $0.signal = value }
    },
]

private func watch(_ change: (inout RunLoop.HangWatch.Options) -> Void) throws {
    var options = RunLoop.HangWatch.Options()
    change(&options)
    let watch = try RunLoop.HangWatch(options: options) { _ in }
    try watch.add(RunLoop.current)
    poll()
    watch.stop()
}
