// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

// One file, two targets: OracleScenarios with the toolchain's own loop, and OracleNames with this library's under the same
// names. What differs between the two is in CoreFoundationSupport.swift of each.
#if ORACLE_NAMES
@preconcurrency import CoreFoundationRunLoop
package import OracleScenarios
#else
@preconcurrency import CoreFoundation
#endif

/// An engine that calls the functions of `CFRunLoop`: in most targets the toolchain's, in the target OracleNames this
/// library's functions of the same names.
///
/// Every item has a handle that its C callbacks receive as `info`. The engine keeps the handles as long as it exists,
/// so that an item that is invalidated inside its own callback does not free the handle while it is in use.
///
/// SAFETY: the arrays are filled by `makeItems` before another thread exists and not changed afterwards; CFRunLoop's
/// own calls are safe from any thread.
package class CoreFoundationEngine: Engine, @unchecked Sendable {
    package static let name = CoreFoundationText.engineName

    let scenario: Scenario
    private let receiver: any CalloutReceiver
    private let names: ModeNames
    private let loop: CFRunLoop
    private let modes: [CFString]
    private let began = CFAbsoluteTimeGetCurrent()
    private var handles: [CoreFoundationHandle] = []
    private var sources: [CFRunLoopSource] = []
    private var descriptors: [CFRunLoopSource] = []
    private var events: [EventDescriptor] = []
    private var timers: [CFRunLoopTimer] = []
    private var observers: [CFRunLoopObserver] = []
    private var sentinel: CFRunLoopTimer?
    /// The observers that keep the real loop awake, by mode.
    private var guards: [Int: [CFRunLoopObserver]] = [:]
    /// The modes of the runs in progress, and whether each has held an item since the turn began.
    private var runs: [(mode: Int, turns: Int, heldItem: Bool)] = []
    private var isFinished = false
    private var commonModes: Set = [0]

    package required init(_ scenario: Scenario, _ names: ModeNames, _ receiver: any CalloutReceiver) {
        self.scenario = scenario
        self.receiver = receiver
        self.names = names
        loop = CFRunLoopGetCurrent()
        modes = names.all.enumerated().map { index, name in
            // The predefined names are compared by address in places.
            index == 0 ? kCFRunLoopDefaultMode : CFStringCreateWithCString(nil, name, CoreFoundationText.utf8)
        }
    }

    package func makeItems() {
        for index in scenario.sources.indices { sources.append(makeSource(index)) }
        for index in scenario.descriptors.indices { descriptors.append(makeDescriptor(index)) }
        for index in scenario.timers.indices { timers.append(makeTimer(index)) }
        for index in scenario.observers.indices { observers.append(makeObserver(index)) }
        if scenario.onMainThread { CoreFoundationMainThread.prepare }
        if scenario.hasSentinels {
            let timer = CFRunLoopTimerCreate(nil, began + Double(Dates.sentinel) / 1e9, 0, 0, 0, { _, _ in }, nil)!
            for mode in modes { CFRunLoopAddTimer(loop, timer, mode) }
            sentinel = timer
        }
    }

    package func run(_ mode: ModeName, _ limit: RunLimit, returnAfterSourceHandled: Bool) -> Int {
        let seconds =
            switch limit {
            case .zero: 0.0
            case .slots(let count): Double(Int64(count) * Scenario.slotNanoseconds) / 1e9
            case .large: 30.0
            case .unlimited: 1e20
            }
        if case .mode(let index) = mode {
            guardSleeps(index)
            runs.append((index, 0, !holdsNothing(index)))
        }
        defer { if case .mode = mode { runs.removeLast() } }
        return Int(CFRunLoopRunInMode(name(mode), seconds, returnAfterSourceHandled).rawValue)
    }

    package func finish() {
        for source in sources { CFRunLoopSourceInvalidate(source) }
        for descriptor in descriptors { CFRunLoopSourceInvalidate(descriptor) }
        for timer in timers { CFRunLoopTimerInvalidate(timer) }
        for observer in observers { CFRunLoopObserverInvalidate(observer) }
        if let sentinel { CFRunLoopTimerInvalidate(sentinel) }
        for observer in guards.values.joined() { CFRunLoopObserverInvalidate(observer) }
        isFinished = true
    }

    /// Adds observers that wake the loop before it sleeps in a mode that has lost its last item since the turn began:
    /// Specification 9.18.
    ///
    /// Does nothing for a mode that does not exist yet, since adding an observer would make the mode.
    private func guardSleeps(_ mode: Int) {
        let name = modes[mode]
        guard !isFinished, guards[mode] == nil, let all = CFRunLoopCopyAllModes(loop),
            CFArrayContainsValue(
                all, CFRange(location: 0, length: CFArrayGetCount(all)), Unmanaged.passUnretained(name).toOpaque())
        else { return }
        let (beforeTimers, beforeWaiting) = (CFOptionFlags(2), CFOptionFlags(32))
        let begins = CFRunLoopObserverCreateWithHandler(nil, beforeTimers, true, .min) { [unowned self] _, _ in
            let run = runs.count - 1
            runs[run].turns += 1
            // The observers of entry belong to the first turn.
            if runs[run].turns > 1 { runs[run].heldItem = !holdsNothing(mode) }
        }
        let sleeps = CFRunLoopObserverCreateWithHandler(nil, beforeWaiting, true, .max) { [unowned self] _, _ in
            if hasLostItems() { CFRunLoopWakeUp(loop) }
        }
        guards[mode] = [begins!, sleeps!]
        for observer in [begins, sleeps] { CFRunLoopAddObserver(loop, observer, name) }
    }

    private func hasLostItems() -> Bool { runs.last.map { $0.heldItem && holdsNothing($0.mode) } ?? false }

    /// Wakes the loop if the other thread has removed a descriptor source that was the last item, because this
    /// package's loop checks its mode again in this case.
    private func hasRemoved(_ item: ItemName) {
        if case .descriptor = item, isWaiting, hasLostItems() { CFRunLoopWakeUp(loop) }
    }

    private func noteAdded() {
        for index in runs.indices where !runs[index].heldItem { runs[index].heldItem = !holdsNothing(runs[index].mode) }
    }

    private func holdsNothing(_ mode: Int) -> Bool {
        if scenario.hasSentinels { return false }
        // The default mode of the main loop has an item for all scenarios. The main queue counts as an item, except inside
        // its own work.
        if scenario.onMainThread, mode == 0 || commonModes.contains(mode) && !receiver.isInQueueItem { return false }
        let items =
            sources.indices.map(ItemName.source) + descriptors.indices.map(ItemName.descriptor)
            + timers.indices.map(ItemName.timer)
        return !items.contains { contains($0, in: .mode(mode)) }
    }

    package func add(_ item: ItemName, to mode: ModeName) {
        switch item {
        case .source(let index): CFRunLoopAddSource(loop, sources[index], name(mode))
        case .descriptor(let index): CFRunLoopAddSource(loop, descriptors[index], name(mode))
        case .timer(let index): CFRunLoopAddTimer(loop, timers[index], name(mode))
        case .observer(let index): CFRunLoopAddObserver(loop, observers[index], name(mode))
        }
        noteAdded()
    }

    package func remove(_ item: ItemName, from mode: ModeName) {
        switch item {
        case .source(let index): CFRunLoopRemoveSource(loop, sources[index], name(mode))
        case .descriptor(let index): CFRunLoopRemoveSource(loop, descriptors[index], name(mode))
        case .timer(let index): CFRunLoopRemoveTimer(loop, timers[index], name(mode))
        case .observer(let index): CFRunLoopRemoveObserver(loop, observers[index], name(mode))
        }
        hasRemoved(item)
    }

    package func contains(_ item: ItemName, in mode: ModeName) -> Bool {
        switch item {
        case .source(let index): CFRunLoopContainsSource(loop, sources[index], name(mode))
        case .descriptor(let index): CFRunLoopContainsSource(loop, descriptors[index], name(mode))
        case .timer(let index): CFRunLoopContainsTimer(loop, timers[index], name(mode))
        case .observer(let index): CFRunLoopContainsObserver(loop, observers[index], name(mode))
        }
    }

    package func invalidate(_ item: ItemName) {
        switch item {
        case .source(let index): CFRunLoopSourceInvalidate(sources[index])
        case .descriptor(let index): CFRunLoopSourceInvalidate(descriptors[index])
        case .timer(let index): CFRunLoopTimerInvalidate(timers[index])
        case .observer(let index): CFRunLoopObserverInvalidate(observers[index])
        }
        hasRemoved(item)
    }

    package func isValid(_ item: ItemName) -> Bool {
        switch item {
        case .source(let index): CFRunLoopSourceIsValid(sources[index])
        case .descriptor(let index): CFRunLoopSourceIsValid(descriptors[index])
        case .timer(let index): CFRunLoopTimerIsValid(timers[index])
        case .observer(let index): CFRunLoopObserverIsValid(observers[index])
        }
    }

    package func markCommon(_ mode: Int) {
        commonModes.insert(mode)
        CFRunLoopAddCommonMode(loop, modes[mode])
        noteAdded()
    }
    package func signal(_ source: Int) { CFRunLoopSourceSignal(sources[source]) }
    package func isSignalled(_ source: Int) -> Bool { CoreFoundationText.isSignalled(sources[source]) }
    package func trigger(descriptor: Int) { events[descriptor].write() }
    package func wakeUp() { CFRunLoopWakeUp(loop) }
    package func stop() { CFRunLoopStop(loop) }

    package func perform(in modes: [ModeName], _ body: @escaping @Sendable () -> Void) {
        if modes.count == 1 {
            CFRunLoopPerformBlock(loop, name(modes[0]), body)
        } else {
            var callbacks = kCFTypeArrayCallBacks
            var pointers = modes.map { UnsafeRawPointer?(Unmanaged.passUnretained(name($0)).toOpaque()) }
            // The array retains the names; CFRunLoopPerformBlock makes a set of it.
            CFRunLoopPerformBlock(loop, CFArrayCreate(nil, &pointers, pointers.count, &callbacks), body)
        }
    }

    package func setFireDate(ofTimer timer: Int, to date: FireDate) {
        CFRunLoopTimerSetNextFireDate(timers[timer], absolute(date))
    }

    package func nextFireDate(in mode: ModeName) -> SeenDate? {
        let date = CFRunLoopGetNextTimerFireDate(loop, name(mode))
        return date == 0 ? nil : Dates.seen(offset(date), now: now)
    }

    package func timerIsSoon() -> Bool {
        guard let current = CFRunLoopCopyCurrentMode(loop) else { return false }
        return timers.contains { timer in
            guard CFRunLoopTimerIsValid(timer), CFRunLoopContainsTimer(loop, timer, current) else { return false }
            let wait = CFRunLoopTimerGetNextFireDate(timer) - CFAbsoluteTimeGetCurrent()
            return wait > -0.000_3 && wait < 0.5
        }
    }

    package var currentMode: String? { CFRunLoopCopyCurrentMode(loop).map(CoreFoundationText.string) }
    package var isWaiting: Bool { CFRunLoopIsWaiting(loop) }
}

extension CoreFoundationEngine {
    private var now: Int64 { offset(CFAbsoluteTimeGetCurrent()) }

    private func offset(_ date: CFAbsoluteTime) -> Int64 { Int64((date - began) * 1e9) }

    private func absolute(_ date: FireDate) -> CFAbsoluteTime {
        began + Double(Dates.offset(date, now: now)) / 1e9
    }

    private func name(_ mode: ModeName) -> CFString {
        switch mode {
        case .common: kCFRunLoopCommonModes
        case .mode(let index): modes[index]
        }
    }

    private func handle(_ index: Int) -> UnsafeMutableRawPointer {
        let handle = CoreFoundationHandle(receiver, index)
        handles.append(handle)
        return Unmanaged.passUnretained(handle).toOpaque()
    }

    private func makeSource(_ index: Int) -> CFRunLoopSource {
        var context = CFRunLoopSourceContext()
        context.info = handle(index)
        context.perform = { CoreFoundationHandle.of($0).tell { .source($0) } }
        if scenario.sources[index].tellsScheduling {
            context.schedule = { info, _, mode in
                let mode = mode.map(CoreFoundationText.string) ?? ""
                CoreFoundationHandle.of(info).tell { .schedule(source: $0, mode: mode) }
            }
            context.cancel = { info, _, mode in
                let mode = mode.map(CoreFoundationText.string) ?? ""
                CoreFoundationHandle.of(info).tell { .cancel(source: $0, mode: mode) }
            }
        }
        return CFRunLoopSourceCreate(nil, scenario.sources[index].order, &context)
    }

    private func makeDescriptor(_ index: Int) -> CFRunLoopSource {
        let event = EventDescriptor()
        events.append(event)
        var context = CFRunLoopSourceContext1()
        context.version = 1
        context.info = handle(index)
        CoreFoundationHandle.of(context.info).descriptor = event.descriptor
        context.getPort = { CoreFoundationHandle.of($0).descriptor }
        context.perform = CoreFoundationText.performDescriptor
        // The two versions of the context begin alike, and CFRunLoopSourceCreate looks at `version` to tell them apart.
        return withUnsafeMutableBytes(of: &context) { bytes in
            // SAFETY: version is 1, so that as many bytes are read as a CFRunLoopSourceContext1 has.
            CFRunLoopSourceCreate(
                nil, scenario.descriptors[index].order,
                bytes.assumingMemoryBound(to: CFRunLoopSourceContext.self).baseAddress
            )
        }
    }

    private func makeTimer(_ index: Int) -> CFRunLoopTimer {
        var context = CFRunLoopTimerContext()
        context.info = handle(index)
        let interval =
            switch scenario.timers[index].interval {
            case .none: 0.0
            case .slots(let count): Double(Int64(count) * Scenario.slotNanoseconds) / 1e9
            case .hour: Double(Dates.far) / 1e9
            }
        return CFRunLoopTimerCreate(
            nil, absolute(scenario.timers[index].first), interval, 0, 0,
            { _, info in CoreFoundationHandle.of(info).tell { .timer($0) } }, &context)
    }

    private func makeObserver(_ index: Int) -> CFRunLoopObserver {
        let spec = scenario.observers[index]
        var context = CFRunLoopObserverContext()
        context.info = handle(index)
        return CFRunLoopObserverCreate(
            nil, CFOptionFlags(spec.activities), spec.repeats, spec.order,
            { _, activity, info in
                CoreFoundationHandle.of(info).tell { .observer($0, activity: UInt(activity.rawValue)) }
            }, &context)
    }
}
