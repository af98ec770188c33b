// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import Glibc
import RunLoops
import RunLoopsTestSupport

/// Makes the steps of a program from a seed.
struct SimulationGenerator {
    private var random: SeededRandom
    /// How many loops the program has: usually one.
    let loops: Int

    init(_ seed: UInt64) {
        random = SeededRandom(seed)
        // The first number of neighbouring seeds is alike.
        _ = random.next()
        let dice = Int.random(in: 0..<10, using: &random)
        loops = dice < 6 ? 1 : dice < 9 ? 2 : 3
    }

    /// Some items, then runs; what happens in a run follows it.
    mutating func makeSteps() -> [SimulatedStep] {
        var steps: [SimulatedStep] = []
        for _ in 0..<upTo(4) + 1 { steps.append(SimulatedStep(spot: .top, isByOther: false, action: making())) }
        for _ in 0..<upTo(2) + 1 {
            for _ in 0..<upTo(3) { steps.append(step(at: .top)) }
            steps.append(SimulatedStep(spot: .top, isByOther: false, action: running()))
            for _ in 0..<upTo(5) { steps.append(step(at: spotInRun())) }
        }
        return steps
    }

    private mutating func step(at spot: SimulatedStep.Spot) -> SimulatedStep {
        let isByOther: Bool
        switch spot {
        case .top, .callout: isByOther = random.oneIn(8)
        case .passing, .fallingAsleep, .asleep: isByOther = true
        }
        let passes = random.oneIn(3) ? upTo(4) : 0
        // A run inside a callout; makings and endings are for the loop's thread.
        if !isByOther, random.oneIn(6) {
            return SimulatedStep(spot: spot, passes: passes, isByOther: false, action: running())
        }
        if !isByOther, random.oneIn(5) {
            return SimulatedStep(spot: spot, passes: passes, isByOther: false, action: making())
        }
        if !isByOther, random.oneIn(30) {
            return SimulatedStep(spot: spot, passes: passes, isByOther: false, action: .threadEnds(loop: loop()))
        }
        let action = random.oneIn(4) ? happening() : doing()
        return SimulatedStep(spot: spot, passes: passes, isByOther: isByOther, action: action)
    }

    private mutating func spotInRun() -> SimulatedStep.Spot {
        pick([.callout, .callout, .callout, .callout, .passing, .fallingAsleep, .asleep])
    }

    private mutating func making() -> SimulatedAction {
        let (loop, mode) = (loop(), modeOrCommon())
        switch upTo(9) {
        case 0...3:
            return .makeTimer(
                loop: loop, mode: mode, delay: upTo(8), interval: random.oneIn(2) ? upTo(4) + 1 : 0,
                tolerance: random.oneIn(3) ? upTo(4) : 0, clock: clock())
        case 4...5: return .makeSource(loop: loop, mode: mode, order: upTo(2))
        case 6...7:
            return .makeObserver(
                loop: loop, mode: mode, order: upTo(2),
                pick([.all, .all, .entry, .beforeWaiting, .afterWaiting, .exit]),
                repeats: !random.oneIn(4))
        default:
            return .makeDescriptor(loop: loop, mode: mode, descriptor(), events(), repeats: !random.oneIn(3))
        }
    }

    private mutating func running() -> SimulatedAction {
        let limit: SimulatedLimit
        switch upTo(9) {
        case 0...1: limit = .poll
        case 2: limit = .idle
        case 3...4: limit = .never
        default: limit = .milliseconds(upTo(15) + 1)
        }
        return .run(loop: loop(), mode: mode(), limit, afterSource: random.oneIn(4))
    }

    /// What the program does.
    private mutating func doing() -> SimulatedAction {
        let item = upTo(7)
        switch upTo(21) {
        case 0: return .add(item, loop: loop(), mode: modeOrCommon())
        case 1: return .add(item, loop: loop(), mode: modeOrCommon())
        case 2: return .remove(item, loop: loop(), mode: modeOrCommon())
        case 3: return .remove(item, loop: loop(), mode: modeOrCommon())
        case 4: return .invalidate(item)
        case 5...8: return .signal(item)
        case 9: return .wakeUp(loop: loop())
        case 10: return .wakeUp(loop: loop())
        case 11: return .stop(loop: loop())
        case 12: return .stopRun(loop: loop(), depth: upTo(2))
        case 13...14: return .post(loop: loop(), modes: blockModes(), wakes: !random.oneIn(3))
        case 15: return .postpone(loop: loop(), mode: modeOrCommon(), delay: upTo(6))
        case 16: return .cancel(item)
        case 17: return .restart(item, delay: upTo(6))
        case 18: return .setFire(item, delay: upTo(6) - 1)
        case 19: return .setTolerance(item, upTo(4))
        case 20: return .setEvents(item, random.oneIn(4) ? [] : events())
        default: return .markCommon(loop: loop(), mode: mode())
        }
    }

    /// What happens around the program.
    private mutating func happening() -> SimulatedAction {
        switch upTo(12) {
        case 0...3: return .ready(descriptor(), pick([.readable, .readable, .writable, .hangUp]), times: upTo(2) + 1)
        case 4: return .unready(descriptor())
        case 5: return .reorder
        case 6...7: return .refuse(pick([ENOMEM, EMFILE, ENFILE, ENOSPC]))
        case 8: return .interrupt
        case 9: return .late(upTo(9) + 1)
        case 10: return .advance(upTo(6))
        case 11: return .suspend(upTo(6))
        default: return .changeWallClock(upTo(12) - 6)
        }
    }

    // MARK: Parts

    private mutating func upTo(_ most: Int) -> Int { Int.random(in: 0...most, using: &random) }
    private mutating func pick<Value>(_ values: [Value]) -> Value { values[upTo(values.count - 1)] }
    private mutating func loop() -> Int { upTo(loops - 1) }
    /// Most happens in the default mode: otherwise little would meet.
    private mutating func mode() -> Int { pick([0, 0, 0, 0, 1, 1, 2]) }
    private mutating func modeOrCommon() -> Int { random.oneIn(4) ? SimulatedAction.common : mode() }
    private mutating func blockModes() -> [Int] { random.oneIn(4) ? [mode(), modeOrCommon()] : [modeOrCommon()] }
    private mutating func clock() -> RunLoop.ClockID {
        pick([.monotonic, .monotonic, .monotonic, .boottime, .realtime])
    }
    private mutating func descriptor() -> CInt { CInt(100 + upTo(2)) }
    private mutating func events() -> RunLoop.DescriptorEvents { pick([.readable, .readable, .writable, .hangUp]) }
}
