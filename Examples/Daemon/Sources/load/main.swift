// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

// Runs a daemon under load and faults, and counts what is lost.
//
//     load PROGRAM SECONDS [SEED [SLOWNESS]]
//
// On a machine that cannot convert so many files, SLOWNESS is how many times fewer come. Prints a name and a value a line; ends
// with 1 if anything was lost. The folder with the daemon's log stays.

import Glibc
import RunLoops

guard CommandLine.arguments.count >= 3, let seconds = Int(CommandLine.arguments[2]) else {
    print("usage: load PROGRAM SECONDS [SEED [SLOWNESS]]")
    exit(EX_USAGE)
}
let seed = CommandLine.arguments.dropFirst(3).first.flatMap { UInt64($0) } ?? UInt64(time(nil))
let slowness = CommandLine.arguments.dropFirst(4).first.flatMap { Int($0) } ?? 1
let program = CommandLine.arguments[1]

var template = Array("/tmp/tally-XXXXXX".utf8CString)
let folder = template.withUnsafeMutableBufferPointer { String(cString: mkdtemp($0.baseAddress!)) }

func turn(for time: Duration) { RunLoop.current.run(in: .default, for: time) }

/// Waits for a condition, ten minutes at most.
@MainActor func wait(for what: String, until isMet: () -> Bool) {
    let end = RunLoop.Instant.now + .seconds(600)
    while !isMet() {
        turn(for: .milliseconds(20))
        if RunLoop.Instant.now > end {
            print("waited ten minutes for: \(what)")
            return
        }
    }
}

writeText(
    """
    #!/usr/bin/awk -f
    { sum += $2 }
    NR % 1000 == 0 { print NR " so far" > "/dev/stderr" }
    END { print NR " readings" > "/dev/stderr"; printf "%d %.0f\\n", NR, sum }
    """, to: "\(folder)/convert", mode: 0o755)
writeText("workers 2\nconverter \(folder)/convert\n", to: "\(folder)/settings")

let ledger = Ledger()
let subject = try Subject(program, folder: folder, ledger)
let load = Load(subject, seed: seed, slowness: max(1, slowness))
wait(for: "the daemon to be ready") { subject.isReady || subject.exit != nil }
// Each way is used before: a connection to a port stays, and so do the threads of Foundation.
load.writeOne()
for number in 0..<10 {
    subject.askBySocket("status first-\(number)")
    turn(for: .milliseconds(100))
}
wait(for: "answers and a result") { ledger.isSettled || subject.exit != nil }
subject.disconnect()
turn(for: .seconds(1))
let before = Figures(of: subject.process)
let kindsBefore = Figures.kinds(of: subject.process)

var meter = SwitchMeter(subject.process)
let sampling = RunLoop.Timer(.every(.milliseconds(200))) { _ in _ = meter.sample() }
RunLoop.current.add(sampling, in: .default)
let switchesBefore = meter.sample()
load.start(for: seconds)
turn(for: .seconds(seconds * 3 / 4))
// When it has been busy for a while.
let instruments = Instruments()
instruments.look(at: subject.process, folder)
turn(for: .seconds(seconds - seconds * 3 / 4))
wait(for: "the instruments") { instruments.isDone }
load.stop()
let settling = RunLoop.Instant.now
wait(for: "everything that was asked") { ledger.isSettled || subject.exit != nil }
let settled = RunLoop.Instant.now - settling
let switches = meter.sample() - switchesBefore
let processor = processorTime(of: subject.process)
let most = Figures.number("VmHWM", in: Figures.text("/proc/\(subject.process)/status"))

// Without work. Threads of Dispatch end after some seconds without work.
subject.disconnect()
turn(for: .seconds(min(15, max(2, seconds / 5))))
let idle = min(60, max(2, seconds / 5))
let switchesAtRest = meter.sample()
turn(for: .seconds(idle))
let idleSwitches = meter.sample() - switchesAtRest
var after = Figures(of: subject.process)
// What stays is left. A folder that is being read, by the housekeeping say, is closed again.
for _ in 0..<50 where after.descriptors != before.descriptors {
    turn(for: .milliseconds(100))
    after = Figures(of: subject.process)
}
let kinds = Figures.kinds(of: subject.process)

kill(subject.process, SIGTERM)
wait(for: "the end of the daemon") { subject.exit != nil }
turn(for: .milliseconds(200))
subject.closeLog()

func show(_ name: String, _ value: Any) { print("\(name)\t\(value)") }
show("folder", folder)
show("seed, slowness", "\(seed), \(slowness)")
show("seconds of load, stopped for", "\(seconds), \(load.stopped)")
show("seconds until all was done", settled.components.seconds)
show("files removed before they were seen", ledger.unseen)
for (name, count) in ledger.counts.sorted(by: { $0.key < $1.key }) { show(name, count) }
show("resident before, at most, after (KB)", "\(before.resident), \(most), \(after.resident)")
show("threads before, seen, after", "\(before.threads), \(meter.threads), \(after.threads)")
show("descriptors before, after", "\(before.descriptors), \(after.descriptors)")
show("descriptors before, by kind", kindsBefore)
show("descriptors after, by kind", kinds)
show("children before, after", "\(before.children.count), \(after.children.count)")
show("wake-ups under load", switches)
show("wake-ups in \(idle) s of rest", idleSwitches)
show("processor time, own and children's (ms)", "\(processor.own), \(processor.children)")
show("longest silence of the watchdog", subject.longestSilence)
show("last status", subject.status)
show("exit", subject.exit.map { "\($0.status)" } ?? "none")

var losses = ledger.losses(in: folder)
if subject.exit?.status.isSuccess != true { losses.append(("ends in disorder", 1)) }
if before.descriptors != after.descriptors {
    losses.append(("descriptors left", after.descriptors - before.descriptors))
}
if !after.children.isEmpty { losses.append(("children left", after.children.count)) }
if let missing = instruments.missing {
    print(instruments.text)
    for part in missing { losses.append(("name of \(part)", 1)) }
}
for (what, count) in losses { show("LOST: \(what)", count) }
if losses.isEmpty { show("lost", "nothing") }
exit(losses.isEmpty ? EXIT_SUCCESS : EXIT_FAILURE)
