// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import RunLoops
import RunLoopsTestSupport
import Synchronization

/// The loops and modes that an item is raced in.
struct RaceTrack: Sendable {
    let home: RunLoop
    let elsewhere: RunLoop
    /// The modes that were marked as common before the item was made.
    let marked: [RunLoop.Mode]
    /// The mode that ``ItemCall/markCommon`` marks.
    let fresh: RunLoop.Mode
}

/// What the closures of all items of some races have seen.
final class RaceTally: Sendable {
    /// Closures that have not been released.
    let closures = Atomic<Int>(0)
    /// Callouts on the thread of the home loop, of an item that this thread had made invalid before.
    let lateCallouts = Atomic<Int>(0)
}

/// What the closures of one item have seen.
final class ItemRecord: Sendable {
    /// Whether a call on the thread of the home loop has made the item invalid, and has returned.
    let isOver = Atomic<Bool>(false)
    /// Schedule callouts less cancel callouts.
    let scheduled = Atomic<Int>(0)
}

/// One item, made for one race.
struct RacedItem: Sendable {
    let item: RunLoop.Item
    let record = ItemRecord()

    /// - Parameters:
    ///   - descriptor: A descriptor that is always readable.
    ///   - tally: Counts the closure until it is released.
    init(_ kind: ItemKind, home: RunLoop, descriptor: CInt, tally: RaceTally) {
        let record = record
        tally.closures.add(1, ordering: .relaxed)
        let token = Token { tally.closures.subtract(1, ordering: .releasing) }
        let homeThread = home.threadID
        let called: @Sendable () -> Void = {
            let isLate = record.isOver.load(ordering: .relaxed) && SystemCalls.threadID == homeThread
            if isLate { tally.lateCallouts.add(1, ordering: .releasing) }
            withExtendedLifetime(token) {}
        }
        switch kind {
        case .source:
            item = RunLoop.Source.sendable(
                schedule: { _, _ in record.scheduled.add(1, ordering: .relaxed) },
                cancel: { _, _ in record.scheduled.subtract(1, ordering: .relaxed) },
                perform: { _ in called() })
        case .timer: item = RunLoop.Timer.sendable(.after(.zero, every: .seconds(3600))) { _ in called() }
        case .observer: item = RunLoop.Observer.sendable(.all) { _, _ in called() }
        case .descriptorSource: item = RunLoop.DescriptorSource.sendable(descriptor) { _, _ in called() }
        }
    }

    /// Makes a call; returns its answer, where it has one.
    func make(_ call: ItemCall, on track: RaceTrack) -> Bool? {
        let home = track.home
        switch call {
        case .add: return add(to: home, .default)
        case .addCommon: return add(to: home, .common)
        case .addElsewhere: return add(to: track.elsewhere, .default)
        case .contains: return home.contains(item, in: .default)
        case .containsElsewhere: return track.elsewhere.contains(item, in: .default)
        case .remove: home.remove(item, from: .default)
        case .removeCommon: home.remove(item, from: .common)
        case .removeElsewhere: track.elsewhere.remove(item, from: .default)
        case .removeFromEach: for mode in [.default] + track.marked { home.remove(item, from: mode) }
        case .markCommon: home.markCommon(track.fresh)
        case .invalidate:
            item.invalidate()
            if SystemCalls.threadID == home.threadID { record.isOver.store(true, ordering: .relaxed) }
        case .describe: _ = item.description
        case .signal: (item as? RunLoop.Source)?.signal()
        case .restart: (item as? RunLoop.Timer)?.restart(after: .zero)
        case .setFireInstant: (item as? RunLoop.Timer).map { $0.deadline = $0.deadline }
        case .setTolerance: (item as? RunLoop.Timer).map { $0.tolerance = .seconds(1) - $0.tolerance }
        case .setEvents: (item as? RunLoop.DescriptorSource).map { $0.events = $0.events.isEmpty ? .readable : [] }
        }
        return nil
    }

    private func add(to loop: RunLoop, _ mode: RunLoop.Mode) -> Bool {
        switch item {
        case let source as RunLoop.Source: return loop.add(source, in: mode)
        case let timer as RunLoop.Timer: return loop.add(timer, in: mode)
        case let observer as RunLoop.Observer: return loop.add(observer, in: mode)
        case let source as RunLoop.DescriptorSource:
            do { return try loop.add(source, in: mode) } catch { preconditionFailure("\(error)") }
        default: preconditionFailure("\(item) is of no kind that is raced")
        }
    }

    /// Where the item is.
    func view(_ track: RaceTrack) -> ItemView {
        let home = track.home
        var modes: RacedModes = []
        if home.contains(item, in: .default) { modes.insert(.standard) }
        if track.marked.contains(where: { home.contains(item, in: $0) }) { modes.insert(.earlier) }
        if home.contains(item, in: track.fresh) { modes.insert(.fresh) }
        return ItemView(
            isValid: item.isValid, modes: modes, isElsewhere: track.elsewhere.contains(item, in: .default),
            isCommon: home.contains(item, in: .common))
    }
}
