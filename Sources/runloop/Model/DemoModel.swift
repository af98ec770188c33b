// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import RunLoops

/// What the demo knows: counters, the turn in progress, the last events.
///
/// Pure: events and times in, lines out.
struct DemoModel: Sendable {
    /// What a run was like when it began, to say afterwards what it did.
    private struct RunStart {
        let time: Duration
        let turns: Int
        let fires: TimerFires
    }

    private(set) var tracker = TurnTracker()
    private(set) var elapsed: Duration = .zero
    private(set) var turns = 0
    private(set) var wakeUps = 0
    private(set) var fires = TimerFires()
    private(set) var inputLines = 0
    private(set) var keys = 0
    private(set) var blocks = 0
    private(set) var signals = 0
    private(set) var mainQueueBlocks = 0
    private(set) var mainActorTasks = 0
    private(set) var runs = 0
    private(set) var deepest = 0
    private(set) var asleep: Duration = .zero
    private(set) var lastSleep: Duration?
    private(set) var lastWake = "-"
    /// The last keys or input lines, the newest last.
    private(set) var lastInput: [String] = []
    /// What a reader wants to see again: everything but what comes with every turn.
    private(set) var log: [DemoLine] = []

    /// How many times each step was reached, with something to do where it is not an observer's.
    private(set) var reached: [Step: Int] = [:]
    /// The steps reached since the thread last woke: from one sleep to the next.
    private(set) var lit: Set<Step> = []
    /// The last step reached.
    private(set) var current: Step?
    /// What each step was last about.
    private(set) var details: [Step: String] = [:]

    private var sleepingSince: Duration?
    /// From after the sleep to the end of that turn: what is served meanwhile is what woke the thread.
    private var isServingWake = false
    private var wakeCauses: [String] = []
    private var starts: [RunStart] = []
    private var ended: RunStart?

    private static let logLimit = 200
    private static let inputLimit = 16

    /// The mode of the innermost run, or the last one's name between two runs.
    private(set) var modeName = "-"

    /// How many runs are in progress.
    var depth: Int { tracker.depth }

    /// The share of the time until now that the thread slept.
    var asleepShare: Double { elapsed > .zero ? asleep / elapsed : 0 }

    /// Takes one event in and returns what there is to say about it.
    mutating func record(_ event: DemoEvent, at time: Duration) -> [DemoLine] {
        elapsed = time
        var lines: [DemoLine] = []
        switch event {
        case .beforeTimers:
            if tracker.takeUnexplainedWake() { lines.append(unexplained("wakeUp()")) }
        case .exited:
            if tracker.takeUnexplainedWake() { lines.append(unexplained("wakeUp() or the deadline")) }
            ended = starts.popLast()
        default: break
        }
        let depthBefore = depth
        let steps = tracker.advance(event)
        count(event, steps)
        for step in steps {
            let isLast = step == steps.last
            reach(step)
            let text = isLast ? text(of: event, at: step) : passing(step, event)
            lines.append(
                line(
                    step, text, depth: max(depth, depthBefore),
                    isRoutine: !isNotable(event) || !isLast && step == .result))
        }
        switch event {
        case .returned(let result):
            lines.append(line(nil, returned(result), depth: depth + 1, isRoutine: false))
        case .note(let text):
            lines.append(line(nil, text, depth: depth, isRoutine: false))
        default: break
        }
        log.append(contentsOf: lines.lazy.filter { !$0.isRoutine })
        if log.count > Self.logLimit { log.removeFirst(log.count - Self.logLimit) }
        return lines
    }

    // MARK: Counting

    private mutating func count(_ event: DemoEvent, _ steps: [Step]) {
        switch event {
        case .entered(let mode):
            runs += 1
            deepest = max(deepest, depth)
            modeName = Wording.mode(mode)
            starts.append(RunStart(time: elapsed, turns: turns, fires: fires))
        case .beforeTimers:
            turns += 1
            isServingWake = false
        case .beforeWaiting:
            sleepingSince = elapsed
        case .afterWaiting:
            wakeUps += 1
            lit = []
            isServingWake = true
            wakeCauses = []
            if let since = sleepingSince {
                lastSleep = elapsed - since
                asleep += elapsed - since
            }
            sleepingSince = nil
        case .exited:
            modeName = tracker.mode.map(Wording.mode) ?? modeName
        case .callout(let callout):
            count(callout)
            if steps.last == .served { explainWake(callout) }
        case .beforeSources, .returned, .note:
            break
        }
    }

    private mutating func count(_ callout: Callout) {
        switch callout {
        case .timer(.defaultOnly): fires.defaultOnly += 1
        case .timer(.common): fires.common += 1
        case .block: blocks += 1
        case .source: signals += 1
        case .mainQueue: mainQueueBlocks += 1
        case .mainActor: mainActorTasks += 1
        case .inputLine(let text):
            inputLines += 1
            remember(Format.quoted(text))
        case .key(let name):
            keys += 1
            remember(name)
        case .onceTimer, .inputEnd, .inputChunk, .systemSignal: break
        }
    }

    private mutating func remember(_ input: String) {
        lastInput.append(input)
        if lastInput.count > Self.inputLimit { lastInput.removeFirst() }
    }

    /// Several callouts of one step 9 explain its wake-up together: both timers may be due at the same date.
    private mutating func explainWake(_ callout: Callout) {
        guard isServingWake else { return }
        let cause = Wording.cause(of: callout)
        if !wakeCauses.contains(cause) { wakeCauses.append(cause) }
        let isBothTimers = wakeCauses.count == 2 && wakeCauses.allSatisfy { $0.hasPrefix("timer ") }
        lastWake = isBothTimers ? "both timers" : wakeCauses.joined(separator: ", ")
    }

    private mutating func reach(_ step: Step) {
        reached[step, default: 0] += 1
        lit.insert(step)
        current = step
    }

    // MARK: Saying

    /// A wake-up that no callout followed at step 9.
    private mutating func unexplained(_ cause: String) -> DemoLine {
        lastWake = cause
        reach(.served)
        details[.served] = cause
        return line(.served, "nothing to serve: woken by \(cause)", depth: depth, isRoutine: true)
    }

    /// What a step says that was passed on the way to the one the event is about.
    private mutating func passing(_ step: Step, _ event: DemoEvent) -> String {
        switch step {
        case .mainQueueLook:
            details[step] = "straight to 9"
            return "main dispatch queue has work: no sleep, straight to 9"
        case .result:
            if case .exited = event {
                details[step] = "leave"
                return "end of the turn: the run has a result"
            }
            details[step] = "next turn"
            return "end of the turn: next turn"
        default:
            return step.title
        }
    }

    private mutating func text(of event: DemoEvent, at step: Step) -> String {
        switch event {
        case .entered(let mode):
            details[step] = Wording.mode(mode)
            return "entry: run \(runs) begins, in mode \(Wording.mode(mode))"
        case .beforeTimers:
            return "before timers, turn \(turns)"
        case .beforeSources:
            return "before sources"
        case .beforeWaiting(let nextTimer):
            let due = nextTimer.map(Format.short)
            details[step] = due.map { "up to \($0)" } ?? "no timer"
            return "before waiting: sleep, " + (due.map { "next timer in \($0)" } ?? "no timer in this mode")
        case .afterWaiting:
            let slept = Format.short(lastSleep ?? .zero)
            details[step] = "slept \(slept)"
            return "after waiting: slept \(slept)"
        case .exited:
            details[step] = modeName
            return "exit"
        case .callout(let callout):
            details[step] = Wording.cause(of: callout)
            let again = step == .sources && isBlock(callout) ? " (blocks again after a source)" : ""
            return Wording.sentence(callout, fires: fires) + again
        case .returned, .note:
            return step.title
        }
    }

    private mutating func returned(_ result: RunLoop.RunResult) -> String {
        if result == .timedOut { lastWake = "the deadline" }
        details[.result] = result.description
        guard let start = ended else { return "run: .\(result)" }
        ended = nil
        let meanwhile =
            "default timer +\(fires.defaultOnly - start.fires.defaultOnly), "
            + "common +\(fires.common - start.fires.common)"
        return "run: .\(result) after \(Format.short(elapsed - start.time)), "
            + "\(Format.count(turns - start.turns, "turn")); \(meanwhile)"
    }

    private func isBlock(_ callout: Callout) -> Bool {
        if case .block = callout { return true }
        return false
    }

    /// What the short log of the screen shows: not the steps of each turn, and not the ticking of the clocks.
    private func isNotable(_ event: DemoEvent) -> Bool {
        switch event {
        case .callout(.timer), .beforeTimers, .beforeSources, .beforeWaiting, .afterWaiting: false
        case .callout, .entered, .exited, .returned, .note: true
        }
    }

    private func line(_ step: Step?, _ text: String, depth: Int, isRoutine: Bool) -> DemoLine {
        DemoLine(time: elapsed, mode: modeName, depth: depth, step: step, text: text, isRoutine: isRoutine)
    }
}
