// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

internal import BenchKit
internal import Glibc
internal import LoopUI
internal import LoopUITesting
internal import RunLoops
internal import RunLoopsEvents
internal import RunLoopsPorts
internal import Workloads

/// What is done to each of n items, so that the sum of all shows how the cost of one grows with n.
///
/// Modes are not among the items: a loop looks through those that it has, as `RunLoop.Mode` says.
///
/// The names with "callout" stand for one callout that does it to n other items, which would be called after it.
struct Operation {
    let name: String
    /// Makes the items; what it returns is what is counted.
    let prepare: (RunLoop, Int) -> () -> Void

    init(_ name: String, _ prepare: @escaping (RunLoop, Int) -> () -> Void) {
        self.name = name
        self.prepare = prepare
    }

    static var all: [Operation] {
        timers + delays + sources + observers + descriptors + files + ports + views + drawings + others
    }
}

// MARK: Timers

extension Operation {
    private static var timers: [Operation] {
        [
            Operation("timer-add") { loop, count in
                let timers = (0..<count).map(waitingTimer)
                return { for timer in timers { loop.add(timer, in: .default) } }
            },
            Operation("timer-add-common") { loop, count in
                let timers = (0..<count).map(waitingTimer)
                return { for timer in timers { loop.add(timer, in: .common) } }
            },
            Operation("timer-contains") { loop, count in
                let timers = waitingTimers(loop, count)
                return {
                    for timer in timers where !loop.contains(timer, in: .default) { fatalError("a timer is lost") }
                }
            },
            onEach("timer-invalidate", of: waitingTimers) { _, timer in timer.invalidate() },
            onEach("timer-remove", of: waitingTimers) { loop, timer in loop.remove(timer, from: .default) },
            onEach("timer-restart", of: waitingTimers) { _, timer in timer.restart(after: .seconds(60)) },
            onEach("timer-tolerance", of: waitingTimers) { _, timer in timer.tolerance = .seconds(1) },
            Operation("timer-fire") { loop, count in
                _ = dueTimers(loop, count)
                return { loop.runUntilIdle() }
            },
            callout("callout-invalidates-due-timers", by: .timer, of: dueTimers) { _, timer in timer.invalidate() },
            callout("callout-removes-due-timers", by: .timer, of: dueTimers) { loop, timer in
                loop.remove(timer, from: .default)
            },
            callout("callout-puts-due-timers-off", by: .timer, of: dueTimers) { _, timer in
                timer.restart(after: .seconds(60))
            },
            callout("callout-moves-timers-up", by: .timer, of: waitingTimers) { _, timer in timer.restart(after: .zero)
            },
            callout("callout-adds-due-timers", by: .timer, of: newDueTimers) {
                loop, timer in
                loop.add(timer, in: .default)
            },
        ]
    }

    private static func waitingTimer(_ number: Int) -> RunLoop.Timer {
        // Dates in no order, all of them far away.
        RunLoop.Timer(.after(.seconds(3600 + number &* 7919 % 3571))) { _ in }
    }

    private static func waitingTimers(_ loop: RunLoop, _ count: Int) -> [RunLoop.Timer] {
        (0..<count).map { added(waitingTimer($0), to: loop) }
    }

    private static func newDueTimers(_ loop: RunLoop, _ count: Int) -> [RunLoop.Timer] {
        (0..<count).map { _ in RunLoop.Timer(.after(.zero)) { _ in } }
    }

    private static func dueTimers(_ loop: RunLoop, _ count: Int) -> [RunLoop.Timer] {
        newDueTimers(loop, count).map { added($0, to: loop) }
    }

    private static func added(_ timer: RunLoop.Timer, to loop: RunLoop) -> RunLoop.Timer {
        loop.add(timer, in: .default)
        return timer
    }

    private static var delays: [Operation] {
        [
            Operation("delay-make") { loop, count in { _ = waitingDelays(loop, count) } },
            Operation("delay-run") { loop, count in
                _ = dueDelays(loop, count)
                return { loop.runUntilIdle() }
            },
            onEach("delay-cancel", of: waitingDelays) { loop, delayed in loop.cancel(delayed) },
            callout("callout-cancels-due-delays", by: .timer, of: dueDelays) { loop, delayed in
                loop.cancel(delayed)
            },
        ]
    }

    private static func waitingDelays(_ loop: RunLoop, _ count: Int) -> [RunLoop.DelayedPerform] {
        (0..<count).map { _ in loop.perform(after: .seconds(3600)) {} }
    }

    private static func dueDelays(_ loop: RunLoop, _ count: Int) -> [RunLoop.DelayedPerform] {
        (0..<count).map { _ in loop.perform(after: .zero) {} }
    }
}

// MARK: Sources and observers

extension Operation {
    private static var sources: [Operation] {
        [
            onEach("source-add", of: newSources) { loop, source in
                loop.add(source, in: .default)
            },
            onEach("source-signal", of: quietSources) { _, source in source.signal() },
            onEach("source-invalidate", of: quietSources) { _, source in source.invalidate() },
            onEach("source-remove", of: quietSources) { loop, source in loop.remove(source, from: .default) },
            Operation("source-perform") { loop, count in
                _ = signalledSources(loop, count)
                return { loop.runUntilIdle() }
            },
            callout("callout-signals-sources", by: .source, of: quietSources) { _, source in source.signal() },
            callout("callout-invalidates-signalled-sources", by: .source, of: signalledSources) { _, source in
                source.invalidate()
            },
            callout("callout-removes-signalled-sources", by: .source, of: signalledSources) { loop, source in
                loop.remove(source, from: .default)
            },
        ]
    }

    private static func newSources(_ loop: RunLoop, _ count: Int) -> [RunLoop.Source] {
        (0..<count).map { _ in RunLoop.Source { _ in } }
    }

    private static func quietSources(_ loop: RunLoop, _ count: Int) -> [RunLoop.Source] {
        let sources = newSources(loop, count)
        for source in sources { loop.add(source, in: .default) }
        return sources
    }

    private static func signalledSources(_ loop: RunLoop, _ count: Int) -> [RunLoop.Source] {
        let sources = quietSources(loop, count)
        for source in sources { source.signal() }
        return sources
    }

    private static var observers: [Operation] {
        [
            onEach("observer-add", of: newObservers) { loop, observer in
                loop.add(observer, in: .default)
            },
            onEach("observer-invalidate", of: addedObservers) { _, observer in observer.invalidate() },
            Operation("observer-call") { loop, count in
                _ = addedObservers(loop, count)
                return { loop.runTurn() }
            },
            callout("callout-invalidates-observers", by: .observer, of: addedObservers) { _, observer in
                observer.invalidate()
            },
        ]
    }

    private static func newObservers(_ loop: RunLoop, _ count: Int) -> [RunLoop.Observer] {
        (0..<count).map { _ in RunLoop.Observer(.beforeTimers) { _, _ in } }
    }

    private static func addedObservers(_ loop: RunLoop, _ count: Int) -> [RunLoop.Observer] {
        // A mode without a source has no turns.
        loop.add(RunLoop.Source { _ in }, in: .default)
        let observers = newObservers(loop, count)
        for observer in observers { loop.add(observer, in: .default) }
        return observers
    }
}

// MARK: Descriptors and the rest

extension Operation {
    private static var descriptors: [Operation] {
        [
            onEach("descriptor-add", of: newDescriptors) { loop, source in
                try! loop.add(source, in: .default)
            },
            onEach("descriptor-invalidate", of: addedDescriptors) { _, source in source.invalidate() },
            Operation("descriptor-event") { loop, count in
                _ = readyDescriptors(loop, count)
                return { loop.runUntilIdle() }
            },
            callout("callout-invalidates-ready-descriptors", by: .descriptor, of: readyDescriptors) { _, source in
                source.invalidate()
            },
        ]
    }

    private static func newDescriptors(_ loop: RunLoop, _ count: Int) -> [RunLoop.DescriptorSource] {
        (0..<count).map { _ in
            RunLoop.DescriptorSource(bk_make_event()) { source, _ in bk_take_event(source.descriptor) }
        }
    }

    private static func addedDescriptors(_ loop: RunLoop, _ count: Int) -> [RunLoop.DescriptorSource] {
        let sources = newDescriptors(loop, count)
        for source in sources { try! loop.add(source, in: .default) }
        return sources
    }

    private static func readyDescriptors(_ loop: RunLoop, _ count: Int) -> [RunLoop.DescriptorSource] {
        let sources = addedDescriptors(loop, count)
        for source in sources { bk_set_event(source.descriptor) }
        return sources
    }

    private static var files: [Operation] {
        [
            Operation("file-watch-move-in-and-empty") { loop, count in
                var template = Array("/tmp/run-loops-growth-XXXXXX".utf8CString)
                guard mkdtemp(&template) != nil else { fatalError("mkdtemp: errno \(errno)") }
                let folder = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
                for name in ["watched", "new"] { mkdir("\(folder)/\(name)", 0o700) }
                for number in 0..<count { close(creat("\(folder)/new/\(number)", 0o600)) }
                let watch = try! FileWatch(["\(folder)/watched"], recursive: true) { _, _ in }
                try! loop.add(watch, in: .default)
                return {
                    rename("\(folder)/new", "\(folder)/watched/new")
                    loop.runUntilIdle()
                    for number in 0..<count { unlink("\(folder)/watched/new/\(number)") }
                    rmdir("\(folder)/watched/new")
                    loop.runUntilIdle()
                    watch.invalidate()
                    rmdir("\(folder)/watched")
                    rmdir(folder)
                }
            }
        ]
    }

    private static var ports: [Operation] {
        [
            Operation("port-messages") { loop, count in
                let port = RunLoop.MessagePort.sendable(limits: RunLoop.MessagePort.Limits(queue: count)) { _ in nil }
                try! loop.add(port, in: .default)
                let sender = port.sender
                return {
                    for number in 0..<count { try! sender.send(RunLoop.MessagePort.Message(id: Int32(number))) }
                    loop.runUntilIdle()
                }
            }
        ]
    }

    /// Trees of views on the main thread, where the program runs its operation.
    private static var views: [Operation] {
        [
            Operation("view-add-and-remove") { _, count in
                let (root, views) = MainActor.assumeIsolated { (View(), (0..<count).map { _ in View() }) }
                return {
                    MainActor.assumeIsolated {
                        for view in views { root.addSubview(view) }
                        for view in views { view.removeFromSuperview() }
                    }
                }
            },
            // Chains of 40 views, each inside the one before. A view that is added costs O(depth), as its page says, so the depth stays.
            Operation("view-nest-and-remove") { _, count in
                let (root, views) = MainActor.assumeIsolated { (View(), (0..<count).map { _ in View() }) }
                return {
                    MainActor.assumeIsolated {
                        for chain in stride(from: 0, to: count, by: 40) {
                            var last = root
                            for view in views[chain..<min(chain + 40, count)] {
                                last.addSubview(view)
                                last = view
                            }
                            views[chain].removeFromSuperview()
                        }
                    }
                }
            },
        ]
    }

    /// A tenth of n drawings of a view of n by n points, of which the display shows 20 by 6.
    private static var drawings: [Operation] {
        [
            drawing("draw-border") { $0.border($0.bounds) },
            drawing("draw-fill") { $0.fill($0.bounds, with: "x", style: .plain) },
            drawing("draw-text") { canvas in
                for row in 0..<10 { canvas.write("some text", at: Point(0, canvas.size.height / 10 * Double(row))) }
            },
            drawing("draw-half-blocks") { $0.draw(twoByTwo, in: $0.bounds) },
            drawing("draw-characters") { $0.draw(twoByTwo, in: $0.bounds, style: .characters) },
            drawing("draw-pixels") { $0.draw(twoByTwo, in: $0.bounds, style: .pixels) },
        ]
    }

    private static var twoByTwo: Picture {
        Picture(
            width: 2, height: 2, bytes: [255, 0, 0, 255, 0, 255, 0, 255, 0, 0, 255, 255, 255, 255, 255, 255])
    }

    private static func drawing(_ name: String, _ draw: @escaping @Sendable (inout Canvas) -> Void) -> Operation {
        Operation(name) { _, count in
            {
                MainActor.assumeIsolated {
                    try! TestApplication.with(size: Size(20, 6)) { app in
                        let view = DrawnView(frame: Rect(0, 0, Double(count), Double(count)))
                        view.drawing = draw
                        app.show(view)
                        // A window's root view gets the window's size.
                        view.frame.size = Size(Double(count), Double(count))
                        for _ in 0..<count / 10 {
                            view.setNeedsDisplay()
                            app.settle()
                        }
                    }
                }
            }
        }
    }

    private static func numbers(_ loop: RunLoop, _ count: Int) -> [Int] { Array(0..<count) }

    private static var others: [Operation] {
        [
            Operation("block") { loop, count in
                {
                    for _ in 0..<count { loop.perform {} }
                    loop.runUntilIdle()
                }
            },
            callout("callout-posts-blocks", by: .block, of: numbers) { loop, _ in
                loop.perform {}
            },
        ]
    }
}

// MARK: Shapes

extension Operation {
    /// Something is done to each of n items by nobody's callout.
    private static func onEach<Item>(
        _ name: String, of items: @escaping (RunLoop, Int) -> [Item], _ act: @escaping (RunLoop, Item) -> Void
    ) -> Operation {
        Operation(name) { loop, count in
            let items = items(loop, count)
            return { for item in items { act(loop, item) } }
        }
    }

    /// One callout, which comes before those of n items, does something to each of them.
    private static func callout<Item>(
        _ name: String, by kind: Kind, of items: @escaping (RunLoop, Int) -> [Item],
        _ act: @escaping (RunLoop, Item) -> Void
    ) -> Operation {
        Operation(name) { loop, count in
            let others = Confined<[Item]>([])
            kind.addFirst(to: loop) {
                // An observer and a timer of the next turn find nothing left to do.
                for item in others.value { act(loop, item) }
                others.value = []
            }
            others.value = items(loop, count)
            return { loop.runUntilIdle() }
        }
    }

    /// Whose callout it is.
    private enum Kind {
        case timer, source, observer, descriptor, block

        /// Adds one that calls before all others of its kind that are added later.
        func addFirst(to loop: RunLoop, _ body: @escaping () -> Void) {
            switch self {
            case .timer:
                loop.add(RunLoop.Timer(.after(.zero)) { _ in body() }, in: .default)
            case .source:
                let source = RunLoop.Source(order: -1) { _ in body() }
                loop.add(source, in: .default)
                source.signal()
            case .observer:
                loop.add(RunLoop.Observer(.beforeTimers, order: -1) { _, _ in body() }, in: .default)
            case .descriptor:
                let source = RunLoop.DescriptorSource(bk_make_event()) { source, _ in
                    bk_take_event(source.descriptor)
                    body()
                }
                try! loop.add(source, in: .default)
                bk_set_event(source.descriptor)
            case .block:
                loop.performLocally { body() }
            }
        }
    }
}

/// A view that a closure draws.
private final class DrawnView: View {
    var drawing: (inout Canvas) -> Void = { _ in }
    override func draw(in canvas: inout Canvas) { drawing(&canvas) }
}
