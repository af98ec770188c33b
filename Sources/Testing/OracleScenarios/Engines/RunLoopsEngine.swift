// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

internal import RunLoops

/// An engine on this package's run loop.
///
/// SAFETY: as for `CoreFoundationEngine`: everything is made by `makeItems`, before another thread exists; the
/// library's own calls are safe from any thread.
package final class RunLoopsEngine: Engine, @unchecked Sendable {
    package static let name = "RunLoops"

    private let scenario: Scenario
    private let receiver: any CalloutReceiver
    private let names: ModeNames
    private let loop: RunLoop
    private let began = RunLoop.Instant.now
    private var sources: [RunLoop.Source] = []
    private var descriptors: [RunLoop.DescriptorSource] = []
    private var events: [EventDescriptor] = []
    private var timers: [RunLoop.Timer] = []
    private var observers: [RunLoop.Observer] = []
    private var sentinel: RunLoop.Timer?

    package init(_ scenario: Scenario, _ names: ModeNames, _ receiver: any CalloutReceiver) {
        self.scenario = scenario
        self.receiver = receiver
        self.names = names
        loop = RunLoop.current
        if let choices = scenario.choices { loop.chooseReady = { choices.choose($0) } }
        loop.sleepsWithoutItems = scenario.sleepsWithoutItems
    }

    package func makeItems() {
        for index in scenario.sources.indices { sources.append(makeSource(index)) }
        for index in scenario.descriptors.indices { descriptors.append(makeDescriptor(index)) }
        for index in scenario.timers.indices { timers.append(makeTimer(index)) }
        for index in scenario.observers.indices { observers.append(makeObserver(index)) }
        if scenario.onMainThread { RunLoopsMainThread.prepare }
        if scenario.hasSentinels {
            let timer = RunLoop.Timer(.at(began.advanced(by: .nanoseconds(Dates.sentinel)))) { _ in }
            for mode in names.all { loop.add(timer, in: RunLoop.Mode(rawValue: mode)) }
            sentinel = timer
        }
    }

    package func run(_ mode: ModeName, _ limit: RunLimit, returnsAfterSource: Bool) -> Int {
        // The loop traps, where Core Foundation's function finishes at once; its spelling is compared by itself.
        if case .common = mode { return RunLoop.RunResult.finished.rawValue }
        let until: Duration? =
            switch limit {
            case .zero: .zero
            case .slots(let count): .nanoseconds(Int64(count) * scenario.slotNanoseconds)
            case .large: .seconds(30)
            case .unlimited: nil
            }
        guard let until else {
            return loop.run(in: name(mode), until: nil, returnsAfterSource: returnsAfterSource).rawValue
        }
        return loop.run(in: name(mode), for: until, returnsAfterSource: returnsAfterSource).rawValue
    }

    package func finish() {
        for source in sources { source.invalidate() }
        for descriptor in descriptors { descriptor.invalidate() }
        for timer in timers { timer.invalidate() }
        for observer in observers { observer.invalidate() }
        sentinel?.invalidate()
        loop.chooseReady = nil
        loop.sleepsWithoutItems = false
    }

    package func add(_ item: ItemName, to mode: ModeName) {
        switch item {
        case .source(let index): loop.add(sources[index], in: name(mode))
        case .descriptor(let index):
            do {
                try loop.add(descriptors[index], in: name(mode))
            } catch {
                preconditionFailure("an eventfd could not be added to a mode: \(error)")
            }
        case .timer(let index): loop.addUnlessElsewhere(timers[index], in: name(mode))
        case .observer(let index): loop.addUnlessElsewhere(observers[index], in: name(mode))
        }
    }

    package func remove(_ item: ItemName, from mode: ModeName) {
        switch item {
        case .source(let index): loop.remove(sources[index], from: name(mode))
        case .descriptor(let index): loop.remove(descriptors[index], from: name(mode))
        case .timer(let index): loop.remove(timers[index], from: name(mode))
        case .observer(let index): loop.remove(observers[index], from: name(mode))
        }
    }

    package func contains(_ item: ItemName, in mode: ModeName) -> Bool {
        loop.contains(object(item), in: name(mode))
    }

    package func invalidate(_ item: ItemName) { object(item).invalidate() }
    package func isValid(_ item: ItemName) -> Bool { object(item).isValid }
    package func markCommon(_ mode: Int) {
        do { try loop.addCommonMode(name(.mode(mode))) } catch {
            preconditionFailure("a mode could not be marked as common: \(error)")
        }
    }
    package func signal(_ source: Int) { sources[source].signal() }
    package func isSignalled(_ source: Int) -> Bool { sources[source].isSignalled }
    package func trigger(descriptor: Int) { events[descriptor].write() }
    package func wakeUp() { loop.wakeUp() }
    package func stop() { loop.stop() }

    package func perform(in modes: [ModeName], _ body: @escaping @Sendable () -> Void) {
        if modes.count == 1 {
            loop.perform(in: name(modes[0]), wake: false, body)
        } else {
            loop.perform(in: modes.map(name), wake: false, body)
        }
    }

    package func setFireDate(ofTimer timer: Int, to date: FireDate) {
        timers[timer].deadline = instant(date)
    }

    package func nextFireDate(in mode: ModeName) -> SeenDate? {
        loop.nextTimerDeadline(in: name(mode)).map { Dates.seen(offset($0), now: now, slot: scenario.slotNanoseconds) }
    }

    package func timerIsSoon() -> Bool {
        guard let current = loop.currentMode else { return false }
        return timers.contains { timer in
            guard timer.isValid, loop.contains(timer, in: current) else { return false }
            let wait = offset(timer.deadline) - now
            return wait > -300_000 && wait < 500_000_000
        }
    }

    package var currentMode: String? { loop.currentMode?.rawValue }
    package var isWaiting: Bool { loop.isWaiting }
}

extension RunLoopsEngine {
    private var now: Int64 { offset(.now) }

    private func offset(_ instant: RunLoop.Instant) -> Int64 { instant.nanoseconds - began.nanoseconds }

    private func instant(_ date: FireDate) -> RunLoop.Instant {
        began.advanced(by: .nanoseconds(Dates.offset(date, now: now, slot: scenario.slotNanoseconds)))
    }

    private func name(_ mode: ModeName) -> RunLoop.Mode {
        switch mode {
        case .common: .common
        case .mode(let index): RunLoop.Mode(rawValue: names.all[index])
        }
    }

    private func object(_ item: ItemName) -> RunLoop.Item {
        switch item {
        case .source(let index): sources[index]
        case .descriptor(let index): descriptors[index]
        case .timer(let index): timers[index]
        case .observer(let index): observers[index]
        }
    }

    private func makeSource(_ index: Int) -> RunLoop.Source {
        let spec = scenario.sources[index]
        let receiver = receiver
        guard spec.tellsScheduling else {
            return RunLoop.Source.sendable(order: spec.order) { _ in receiver.receive(.source(index)) }
        }
        return RunLoop.Source.sendable(
            order: spec.order,
            schedule: { _, mode in receiver.receive(.schedule(source: index, mode: mode.rawValue)) },
            cancel: { _, mode in receiver.receive(.cancel(source: index, mode: mode.rawValue)) },
            handler: { _ in receiver.receive(.source(index)) })
    }

    private func makeDescriptor(_ index: Int) -> RunLoop.DescriptorSource {
        let event = EventDescriptor()
        events.append(event)
        let receiver = receiver
        return RunLoop.DescriptorSource.sendable(event.descriptor) { _, _ in
            // The real one reads eight bytes before it calls, so that ours has to before it does anything else.
            event.read()
            receiver.receive(.descriptor(index))
        }
    }

    private func makeTimer(_ index: Int) -> RunLoop.Timer {
        let spec = scenario.timers[index]
        let interval: Duration? =
            switch spec.interval {
            case .none: nil
            case .slots(let count): .nanoseconds(Int64(count) * scenario.slotNanoseconds)
            case .hour: .nanoseconds(Dates.far)
            }
        let receiver = receiver
        return RunLoop.Timer.sendable(.at(instant(spec.first), every: interval)) { _ in receiver.receive(.timer(index))
        }
    }

    private func makeObserver(_ index: Int) -> RunLoop.Observer {
        let spec = scenario.observers[index]
        let receiver = receiver
        return RunLoop.Observer.sendable(
            RunLoop.Activities(rawValue: spec.activities), order: spec.order, repeats: spec.repeats
        ) { _, activity in
            receiver.receive(.observer(index, activity: activity.rawValue))
        }
    }
}

/// The preparation that the main loop needs once per process; the real loop needs it more, and both loops get the same.
enum RunLoopsMainThread {
    static let prepare: Void = {
        let timer = RunLoop.Timer.sendable(.at(RunLoop.Instant.now.advanced(by: .seconds(1_000_000_000)))) { _ in }
        RunLoop.main.add(timer, in: .default)
    }()
}
