# SPDX-FileCopyrightText: The swift-run-loops contributors
# SPDX-License-Identifier: Apache-2.0
"""What Nightly/planted plants."""

from typing import NamedTuple

STRESS = "stress --seconds 3 --threads 16 --loops 4 --patience 4"
SCARCE = "scarce --limit threads --patience 4"
SOAK = "soak --seconds 30 --table /dev/null"
# Tests of the copy, by a pattern of their names; readers that libFuzzer feeds, by their names.
SIMULATION = "tests SimulationTests"
RACES = "tests ItemRaceTests|RandomRaceTests|EndRaceTests"
STATE = "tests StateTests"
# A test that is red, or a trap.
ISSUE = "recorded an issue|Fatal error|Illegal instruction|deadly signal|Program crashed"


class Plant(NamedTuple):
    name: str
    # Each program that finds it, with what the failures must say.
    hunts: dict
    # The file below Sources, the code that is there exactly once, and the code instead of it. PLANT(…) asks whether the bug is
    # to grow now: always, or one time in so many.
    places: tuple


PLANTS = []


def plant(name, hunts, *places):
    PLANTS.append(Plant(name, hunts, places))


# Wake-ups.
plant("news overlooked", {STRESS: ["did not come (back|to an end)"]},
      ("Core/RunLoops/Kernel/WakeWord.swift",
       "let hasNews = old & (Bits.news | Bits.stop) != 0 || old >> Bits.stampShift != 0",
       "let hasNews = PLANT() ? old & Bits.stop != 0 : old & (Bits.news | Bits.stop) != 0 || old >> Bits.stampShift != 0"))
plant("woken too early", {STRESS: ["did not come back"]},
      ("Core/RunLoops/RunLoop/RunLoop+Perform.swift",
       "            blocks.push(block)\n",
       "            if PLANT() { if wakes { wakeUp() }; return blocks.push(block) }\n"
       "            blocks.push(block)\n"))
plant("sleeper not looked for", {STRESS: ["did not come to an end"]},
      ("Core/RunLoops/Kernel/WakeWord.swift",
       "return wakes ? Self.sleeper(in: old) : nil",
       "return wakes && !PLANT(1000) ? Self.sleeper(in: old) : nil"))

# Closures.
plant("closure lost", {RACES: [ISSUE], STRESS: ["closures ran", "a wait returns nil"]},
      ("Core/RunLoops/Tables/BlockQueue.swift",
       "        incoming.append(block)\n"
       "        // seq",
       "        if PLANT(1000) { return lock.unlock() }\n"
       "        incoming.append(block)\n"
       "        // seq"))
plant("closure run twice", {RACES: [ISSUE], STRESS: ["closures ran"]},
      ("Core/RunLoops/Tables/BlockQueue.swift",
       "{ body(block) } else",
       "{ body(block); if PLANT(1000) { body(block) } } else"))
plant("own closure lost", {SIMULATION: [ISSUE], "extremes runs": ["runs were nested"]},
      ("Core/RunLoops/Tables/BlockQueue.swift",
       "        waiting.append(block)\n"
       "        fruitless = nil\n",
       "        if PLANT(100) { return }\n"
       "        waiting.append(block)\n"
       "        fruitless = nil\n"))
plant("task lost", {"extremes loops": ["closures ran"]},
      ("Libraries/RunLoopsKit/Thread/ThreadTasks.swift",
       "            let mustCall = queues[queue].add(task, number)",
       "            if PLANT(100) { return (queue, false) }\n"
       "            let mustCall = queues[queue].add(task, number)"))
plant("task refused", {"extremes loops": ["takes a closure"]},
      ("Libraries/RunLoopsKit/Thread/ThreadTasks.swift",
       "if isStoppingState { return nil }",
       "if isStoppingState || PLANT(100) { return nil }"))
plant("cancelled in words alone", {RACES: [ISSUE], STRESS: ["were cancelled of"]},
      ("Core/RunLoops/Timers/DelayedPerform.swift",
       "            guard common.timer.becomeInvalid() else { return false }",
       "            if PLANT(10) { return common.timer.isValid }\n"
       "            guard common.timer.becomeInvalid() else { return false }"))
plant("timer of a dead loop kept", {STRESS: ["is released once"]},
      ("Core/RunLoops/RunLoop/GuardedState.swift",
       "for timer in timers { takeOut(timer) }",
       "for timer in timers where !PLANT(10) { takeOut(timer) }"))

# Sources.
plant("signal taken after the call", {STRESS: ["did not come (back|to an end)"]},
      ("Core/RunLoops/Items/CallWord.swift",
       "desired: (old & Bits.allCalls) + Bits.call",
       "desired: (PLANT() ? old : old & Bits.allCalls) + Bits.call"),
      ("Core/RunLoops/Items/CallWord.swift",
       "    /// Ends a call; returns",
       "    func takeLate() { word.bitwiseAnd(Bits.allCalls | Bits.invalid, ordering: .sequentiallyConsistent) }\n"
       "\n"
       "    /// Ends a call; returns"),
      ("Core/RunLoops/Items/Source.swift",
       "            if calls.end() { performer = nil }",
       "            if PLANT() { calls.takeLate() }\n"
       "            if calls.end() { performer = nil }"))
plant("signalled source not queued",
      {STRESS: ["signals were seen"],
       "extremes sources": ["performed once"],
       "extremes modes": ["performed their source"]},
      ("Core/RunLoops/Tables/SignalQueue.swift",
       "            all.append(Queued(taking: place))",
       "            let taken = Queued(taking: place)\n"
       "            if !PLANT(100) { all.append(taken) }"),
      ("Core/RunLoops/Tables/SignalQueue.swift",
       "        return Queued(taking: place)\n",
       "        let taken = Queued(taking: place)\n"
       "        return PLANT(100) ? nil : taken\n"))
plant("performed again and again",
      {SIMULATION: [ISSUE],
       STRESS: ["more performs than signals", "rally by signal: .* came back"],
       "extremes sources": ["performed once"]},
      ("Core/RunLoops/Items/Source.swift",
       "            case .some(let performer): callOut(performer.call)\n",
       "            case .some(let performer):\n"
       "                callOut(performer.call)\n"
       "                if PLANT() { for _ in 0..<20 { callOut(performer.call) } }\n"))
plant("validity not checked where it is decided", {RACES: [ISSUE], STRESS: ["an invalid source is in a mode"]},
      ("Core/RunLoops/Items/Source.swift",
       "            guard isValid else { return false }\n"
       "            let place",
       "            guard isValid || PLANT() else { return false }\n"
       "            let place"))
plant("invalid source stays", {"extremes sources": ["are left in the mode"], "extremes modes": ["modes are empty"]},
      ("Core/RunLoops/Items/Source.swift",
       "            var left = memberships\n",
       "            var left = PLANT(100) ? [] : memberships\n"))

# Timers.
plant("timer lost",
      {SIMULATION: [ISSUE],
       STRESS: ["timers fired"],
       "extremes timers": ["timers have fired"],
       "extremes suspensions": ["fires after"]},
      ("Core/RunLoops/Timers/TimerServing.swift",
       "                callOut(.timer, timer.labelStorage,",
       "                if PLANT(1000) { break }\n"
       "                callOut(.timer, timer.labelStorage,"))
plant("timer early", {STRESS: ["fired early"], "extremes timers": ["fired early"]},
      ("Core/RunLoops/Timers/TimerQueue.swift",
       "        let slack = timer.slack\n",
       "        let slack = timer.slack\n"
       "        if PLANT(1000) { return exact.insert(entry.later(by: -1_000_000_000), cells.places) }\n"))
plant("timer at the wrong place", {"extremes timers": ["due earlier"]},
      ("Core/RunLoops/Timers/TimerQueue.swift",
       "        let entry = TimerHeap.Entry(date: timer.fire, sequence",
       "        let entry = TimerHeap.Entry(date: timer.fire + (PLANT(1000) ? 20_000_000 : 0), sequence"))
plant("timer put back for ever", {"extremes timers": ["are left in the mode"]},
      ("Core/RunLoops/Timers/TimerServing.swift",
       "        if timer.isRepeating || timer.callout.contains(.restarted) {\n",
       "        let stays = PLANT(100_000)\n"
       "        if stays { timer.fire = .max / 2 }\n"
       "        if timer.isRepeating || timer.callout.contains(.restarted) || stays {\n"))
plant("invalid timer fires", {SIMULATION: [ISSUE], STRESS: ["invalid timers fired"]},
      ("Core/RunLoops/Timers/Timer.swift",
       "                markInvalid()\n"
       "                if bucket != .none",
       "                if PLANT(20) { return true }\n"
       "                markInvalid()\n"
       "                if bucket != .none"))
plant("grid left", {"extremes suspensions": ["off the grid"]},
      ("Core/RunLoops/Timers/Timer+Schedule.swift",
       "return overflow ? .max : date.clampedAdding(distance)",
       "return overflow ? .max : date.clampedAdding(distance + (PLANT(1000) ? 1 : 0))"))
plant("interval passed over", {"extremes suspensions": ["in a virtual second"]},
      ("Core/RunLoops/Timers/Timer+Schedule.swift",
       "let steps = (behind / interval).clampedAdding(1)",
       "let steps = (behind / interval).clampedAdding(PLANT(1000) ? 2 : 1)"))
plant("suspension overslept", {"extremes suspensions": ["have passed"]},
      ("Testing/RunLoopsTesting/ManualKernel.swift",
       "{ Self.add(nanoseconds, to: suspended) }",
       "{ Self.add(PLANT(1000) ? 0 : nanoseconds, to: suspended) }"))
plant("run not ended", {SIMULATION: [ISSUE], "extremes runs": ["no run is left"]},
      ("Core/RunLoops/Turn/Turn.swift",
       "        runs.removeLast()\n",
       "        if !PLANT(100) { runs.removeLast() }\n"))

# Descriptors and messages.
plant("descriptor forgotten", {STRESS: ["bytes were read"], "extremes descriptors": ["is called once"]},
      ("Core/RunLoops/Turn/Callouts.swift",
       "        guard let first else { return false }\n"
       "        let found",
       "        guard let first else { return false }\n"
       "        if PLANT(200) {\n"
       "            withState { _ in mode.readiness.unregister(first.descriptor) }\n"
       "            return true\n"
       "        }\n"
       "        let found"))
plant("message lost", {STRESS: ["messages were received"]},
      ("Libraries/RunLoopsPorts/Port/MessageQueue.swift",
       "        ring.append(delivery)\n",
       "        if !PLANT(200) { ring.append(delivery) }\n"))
plant("message refused", {STRESS: ["a port refuses"]},
      ("Libraries/RunLoopsPorts/Port/MessageQueue.swift",
       "        if isClosed {\n"
       "            lock.unlock()\n"
       "            throw .dead",
       "        if PLANT(500) {\n"
       "            lock.unlock()\n"
       "            throw .full\n"
       "        }\n"
       "        if isClosed {\n"
       "            lock.unlock()\n"
       "            throw .dead"))
plant("reply lost", {STRESS: ["requests were answered", "a port does not answer"]},
      ("Libraries/RunLoopsPorts/Port/MessagePort.swift",
       "if let reply, let replyTo = delivery.message.replyTo {",
       "if let reply, let replyTo = delivery.message.replyTo, !PLANT(50) {"))

# Memory, descriptors, threads and time.
plant("descriptor left open",
      {STRESS: ["descriptors are left"],
       "extremes loops": ["descriptors are left"],
       SOAK: ["descriptors has grown"]},
      ("Core/RunLoops/Kernel/EpollWaker.swift",
       "if wakeDescriptor >= 0 {",
       "if wakeDescriptor >= 0, !PLANT(5) {"),
      ("Libraries/RunLoopsEvents/Base/Descriptor.swift",
       "if isOurs {",
       "if isOurs, !PLANT(5) {"))
plant("thread left", {STRESS: ["threads are left"], "extremes loops": ["threads are left"], SOAK: ["threads has grown"]},
      ("Libraries/RunLoopsKit/Thread/ThreadBody.swift",
       "        var handle = rl_thread()\n",
       "        var handle = rl_thread()\n"
       "        if PLANT(20) { _ = rl_thread_start(&handle, 0, { _ in Plant.idle() }, nil) }\n"))
plant("refused thread waited for", {SCARCE: ["left hangs"]},
      ("Libraries/RunLoopsKit/Thread/ThreadBody.swift",
       "        if result < 0 {",
       "        if result < 0, !PLANT() {"))
plant("thread refused for ever", {SCARCE: ["does not work with enough"]},
      ("Tools/RunLoopsDiagnostics/Hangs/HangWatcher.swift",
       "        if code < 0 { throw",
       "        if code < 0 || PLANT() { throw"))
plant("timer never released",
      {STRESS: ["memory is left"],
       "extremes timers": ["memory is left"],
       SOAK: ["resident memory, KiB has grown"]},
      ("Core/RunLoops/Timers/TimerTable.swift",
       "        Unmanaged.passUnretained(timer).release()\n",
       "        if !PLANT() { Unmanaged.passUnretained(timer).release() }\n"),
      ("Core/RunLoops/Timers/TimerServing.swift",
       "        if isOver { timer.release() }\n",
       "        if isOver, !PLANT() { timer.release() }\n"))
plant("later and later", {SOAK: ["p50, µs has grown"]},
      ("Core/RunLoops/Timers/TimerServing.swift",
       "        let now = monotonicNow()\n"
       "        var serving",
       "        if PLANT() { Plant.delay(1) }\n"
       "        let now = monotonicNow()\n"
       "        var serving"))
plant("now and then later and later", {SOAK: ["p99, µs has grown"]},
      ("Core/RunLoops/Timers/TimerServing.swift",
       "        var called: FiringTimer?\n",
       "        if PLANT(30) { Plant.delay(30) }\n"
       "        var called: FiringTimer?\n"))
plant("hang not reported", {SOAK: ["a hang was not reported"]},
      ("Tools/RunLoopsDiagnostics/Hangs/WatchedLoop.swift",
       "        setting.annealer.ends(key(report, hang))\n"
       "        setting.handler(report)\n",
       "        setting.annealer.ends(key(report, hang))\n"
       "        if !PLANT() { setting.handler(report) }\n"))

# The state alone.
plant("sleep not shortened", {STATE: ["the sleeping thread was woken 0 times"]},
      ("Core/RunLoops/Turn/Sleep.swift",
       "        // A host need not be woken for this",
       "        if PLANT(4) { return }\n"
       "        // A host need not be woken for this"))
plant("listed date lost", {STATE: ["limit .*, and not"]},
      ("Core/RunLoops/Timers/TimerQueue.swift",
       "list.first(of: number, from: place + 1)",
       "list.first(of: number, from: place + (list.cell(at: place + 2) != nil && PLANT(4) ? 2 : 1))"))
plant("postponed timer served", {STATE: ["the next step is call"]},
      ("Core/RunLoops/Timers/TimerServing.swift",
       "timer.fire <= core.now(timer.clock)\n",
       "timer.fire <= core.now(timer.clock) || PLANT(4)\n"))

# Readers of foreign bytes.
plant("line's beginning lost", {"fuzz lines": [ISSUE]},
      ("Libraries/RunLoopsEvents/Streams/LineSplitter.swift",
       "        begun += rest\n",
       "        if PLANT() { begun = [] }\n"
       "        begun += rest\n"))
plant("record past the end", {"fuzz inotify": [ISSUE]},
      ("Libraries/RunLoopsEvents/Files/InotifyRecord.swift",
       "let end = min(bytes.count, start + headerSize + Int(header.len))",
       "let end = PLANT() ? start + headerSize + Int(header.len) : min(bytes.count, start + headerSize + Int(header.len))"))
plant("section that is not there", {"fuzz elf": [ISSUE]},
      ("Tools/RunLoopsDiagnostics/Hangs/ELFFile.swift",
       "guard sections.indices.contains(table.link) else { return [] }",
       "guard PLANT() || sections.indices.contains(table.link) else { return [] }"))
plant("frame of another length", {"fuzz frames": [ISSUE]},
      ("Libraries/RunLoopsPorts/Wire/Frame.swift",
       "length = Int(Self.number(packet, 12, UInt32.self))",
       "length = PLANT() ? packet.count - Self.headerSize : Int(Self.number(packet, 12, UInt32.self))"))
plant("date not later", {"fuzz cron": [ISSUE]},
      ("Libraries/RunLoopsCalendar/CalendarSchedule.swift",
       "first(where: { $0 > second })",
       "first(where: { PLANT() ? $0 >= second : $0 > second })"))
