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

    package func run(_ mode: ModeName, _ limit: RunLimit, returnsAfterSource: Bool) -> Int {
        let seconds =
            switch limit {
            case .zero: 0.0
            case .slots(let count): Double(Int64(count) * scenario.slotNanoseconds) / 1e9
            case .large: 30.0
            case .unlimited: 1e20
            }
        return Int(CFRunLoopRunInMode(name(mode), seconds, returnsAfterSource).rawValue)
    }

    package func finish() {
        for source in sources { CFRunLoopSourceInvalidate(source) }
        for descriptor in descriptors { CFRunLoopSourceInvalidate(descriptor) }
        for timer in timers { CFRunLoopTimerInvalidate(timer) }
        for observer in observers { CFRunLoopObserverInvalidate(observer) }
        if let sentinel { CFRunLoopTimerInvalidate(sentinel) }
    }

    package func add(_ item: ItemName, to mode: ModeName) {
        switch item {
        case .source(let index): CFRunLoopAddSource(loop, sources[index], name(mode))
        case .descriptor(let index): CFRunLoopAddSource(loop, descriptors[index], name(mode))
        case .timer(let index): CFRunLoopAddTimer(loop, timers[index], name(mode))
        case .observer(let index): CFRunLoopAddObserver(loop, observers[index], name(mode))
        }
    }

    package func remove(_ item: ItemName, from mode: ModeName) {
        switch item {
        case .source(let index): CFRunLoopRemoveSource(loop, sources[index], name(mode))
        case .descriptor(let index): CFRunLoopRemoveSource(loop, descriptors[index], name(mode))
        case .timer(let index): CFRunLoopRemoveTimer(loop, timers[index], name(mode))
        case .observer(let index): CFRunLoopRemoveObserver(loop, observers[index], name(mode))
        }
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
        CFRunLoopAddCommonMode(loop, modes[mode])
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
        return date == 0 ? nil : Dates.seen(offset(date), now: now, slot: scenario.slotNanoseconds)
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
        began + Double(Dates.offset(date, now: now, slot: scenario.slotNanoseconds)) / 1e9
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
            case .slots(let count): Double(Int64(count) * scenario.slotNanoseconds) / 1e9
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
