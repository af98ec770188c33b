// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import RunLoops
import RunLoopsTestSupport

/// A program of a simulation: a list of steps, made from a seed.
///
/// Any part of the list is a program too, so that a failure can be shrunk by leaving steps out. An item is named by a
/// number that counts round, for the same reason.
struct SimulatedProgram {
    let seed: UInt64
    /// The steps that are kept of those that the seed makes.
    let kept: [Int]
    let loops: Int
    let steps: [SimulatedStep]

    init(seed: UInt64, keeping kept: [Int]? = nil) {
        var generator = SimulationGenerator(seed)
        let all = generator.makeSteps()
        let kept = kept ?? Array(all.indices)
        self.seed = seed
        self.kept = kept
        loops = generator.loops
        steps = kept.filter(all.indices.contains).map { all[$0] }
    }

    /// From the text of ``description``: the seed, and the numbers of the steps that are kept, all without numbers.
    init?(_ text: String) {
        let parts = text.split(separator: ":", maxSplits: 1)
        guard let first = parts.first, let seed = UInt64(first) else { return nil }
        self.init(seed: seed, keeping: parts.count > 1 ? parts[1].split(separator: ",").compactMap { Int($0) } : nil)
    }

    /// What RUNLOOPS_SEED has to be to run the program again.
    var description: String { "\(seed):" + kept.map(String.init).joined(separator: ",") }

    /// The program in full, a step a line.
    var listing: String {
        zip(kept, steps).map { "  \($0): \($1.spot)\($1.isByOther ? ", other thread" : ""): \($1.action)" }
            .joined(separator: "\n")
    }
}

/// One step: what is done, by which thread, and where the loop's thread is meanwhile.
struct SimulatedStep {
    /// Where the loop's thread is.
    enum Spot {
        /// In no callout; the steps before have ended.
        case top
        /// In a callout, of whatever item.
        case callout
        /// Between two steps of a turn.
        case passing
        /// On its way to sleep, having looked at everything.
        case fallingAsleep
        case asleep
    }

    let spot: Spot
    /// How many such places the program lets pass before.
    var passes = 0
    let isByOther: Bool
    let action: SimulatedAction
}

/// What a step does.
///
/// Times are in milliseconds; a mode is an index, ``common`` for all common modes.
enum SimulatedAction {
    static let common = 3

    case makeTimer(loop: Int, mode: Int, delay: Int, interval: Int, tolerance: Int, clock: RunLoop.ClockID)
    case makeSource(loop: Int, mode: Int, order: Int)
    case makeObserver(loop: Int, mode: Int, order: Int, RunLoop.Activities, repeats: Bool)
    case makeDescriptor(loop: Int, mode: Int, CInt, RunLoop.DescriptorEvents, repeats: Bool)
    case add(Int, loop: Int, mode: Int)
    case remove(Int, loop: Int, mode: Int)
    case invalidate(Int)

    case signal(Int)
    case wakeUp(loop: Int)
    case stop(loop: Int)
    /// Stops a run in progress, counted from the innermost.
    case stopRun(loop: Int, depth: Int)
    case post(loop: Int, modes: [Int], wakes: Bool)
    case postpone(loop: Int, mode: Int, delay: Int)
    case cancel(Int)
    case restart(Int, delay: Int)
    case setFire(Int, delay: Int)
    case setTolerance(Int, Int)
    case setEvents(Int, RunLoop.DescriptorEvents)
    case markCommon(loop: Int, mode: Int)
    case threadEnds(loop: Int)
    case run(loop: Int, mode: Int, SimulatedLimit, afterSource: Bool)

    /// The descriptor is ready until sources were called `times` times.
    case ready(CInt, RunLoop.DescriptorEvents, times: Int)
    case unready(CInt)
    case reorder
    case refuse(CInt)
    case interrupt
    case late(Int)
    case advance(Int)
    case suspend(Int)
    case changeWallClock(Int)
}

/// How long a run may take.
enum SimulatedLimit {
    case poll, idle, never
    case milliseconds(Int)
}
