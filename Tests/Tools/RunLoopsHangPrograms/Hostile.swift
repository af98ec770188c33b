// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

// Callouts in which a careless look at the thread's stack would end the program, or the watch.

import CHangScenes
import Glibc
import RunLoops
import RunLoopsDiagnostics
import Synchronization

private final class EndedHangs: Sendable {
    let count = Atomic<Int>(0)
}

private let watches = Guarded<[RunLoop.HangWatch?]>([])

extension Program {
    static let hostile = [
        "fibre", "edge", "handler", "deep", "vfork", "library", "unload", "sandbox", "naps",
    ]

    /// Plays a scene inside a callout; the library, or the time in milliseconds, is the argument.
    static func playHostile(_ scene: String, _ argument: String) {
        switch scene {
        case "fibre": scene_spin_on_fibre(600, 0)
        case "edge": scene_spin_on_fibre(600, 512)
        case "handler": scene_spin_in_handler(600)
        case "deep": scene_spin_deep_down(600, 7 << 20)
        case "vfork": scene_vfork(600)
        case "library": if !scene_spin_in_library(argument, 600) { say("no library") }
        case "unload": say("loaded and unloaded: \(scene_load_and_unload(argument, 1500) > 0)")
        case "sandbox":
            if !scene_enter_sandbox() { say("no sandbox") }
            scene_spin_on_fibre(600, 0)
        default:
            var sleeps: CInt = 0
            let early = scene_run_and_sleep(Int32(argument) ?? 2000, &sleeps)
            say("early: \(early) of \(sleeps)")
        }
    }

    /// The child watches a loop of its own, with a watch of its own, and lets its parent's go.
    static func fork(_ parents: RunLoop.HangWatch) {
        hang("parent's") { spinHard(.milliseconds(300)) }
        hang("parent's, forking") {
            spinHard(.milliseconds(300))
            let child = scene_fork()
            guard child == 0 else { return say("the child ended with \(scene_wait(child))") }
            let thread = Thread {
                let ended = Flag()
                parents.stop()
                guard
                    let watch = try? RunLoop.HangWatch(handler: { report in
                        say("child: " + report.json)
                        if report.stage == .ended { ended.set() }
                    }), (try? watch.add(.current)) != nil
                else { return say("the child may not watch") }
                RunLoop.current.add(
                    RunLoop.Timer(.after(.milliseconds(1)), label: "child's") { _ in spinHard(.milliseconds(400)) },
                    in: .default)
                RunLoop.current.add(RunLoop.Source(label: "waits") { _ in }, in: .default)
                repeat { RunLoop.current.run(in: .default, for: .milliseconds(50)) } while !ended.isSet
            }
            thread.join()
            _exit(7)
        }
    }

    /// Threads that hang and end at once, before the end of the hang is found.
    static func ends() {
        let reports = EndedHangs()
        for _ in 0..<4 {
            let thread = Thread {
                let watch = try? RunLoop.HangWatch { report in
                    say(report.text)
                    if report.stage == .ended { reports.count.add(1, ordering: .relaxed) }
                }
                try? watch?.add(.current)
                RunLoop.current.perform { spinHard(.milliseconds(300)) }
                RunLoop.current.add(RunLoop.Timer(.after(.milliseconds(10))) { _ in }, in: .default)
                RunLoop.current.run()
                // The watch lives on.
                watches.withLock { $0.append(watch) }
            }
            thread.join()
        }
        while reports.count.load(ordering: .relaxed) < 4 { usleep(1000) }
        say("all ended")
    }

    private static func spinFor(_ time: Duration) {
        let end = RunLoop.Instant.now.advanced(by: time)
        while RunLoop.Instant.now < end {}
    }

    /// Callouts of up to 150 ms, which run or sleep; runs inside callouts; now and then a pause.
    ///
    /// Nothing here is a hang, so each report is false; nor may a sleep end early.
    static func busy(_ time: Duration) {
        let end = RunLoop.Instant.now.advanced(by: time)
        var (callouts, sleeps, early) = (0, CInt(0), 0)
        var random = SystemRandomNumberGenerator()
        func step() {
            callouts += 1
            let milliseconds = Int.random(in: 0...150, using: &random)
            switch Int.random(in: 0..<4, using: &random) {
            case 0: spinFor(.milliseconds(milliseconds))
            case 1: early += Int(scene_run_and_sleep(Int32(milliseconds), &sleeps))
            case 2:
                var time = timespec(tv_sec: 0, tv_nsec: milliseconds * 1_000_000)
                sleeps += 1
                if nanosleep(&time, nil) != 0 { early += 1 }
            default:
                // Comes to rest inside the callout, for longer than the limit.
                let keeps = RunLoop.Source(label: "keeps it") { _ in }
                RunLoop.main.add(keeps, in: .default)
                RunLoop.main.run(in: .default, for: .milliseconds(milliseconds * 3))
                keeps.invalidate()
            }
        }
        let timer = RunLoop.Timer(.every(.milliseconds(160)), label: "busy") { timer in
            step()
            if RunLoop.Instant.now >= end { RunLoop.main.stop() }
        }
        RunLoop.main.add(timer, in: .default)
        RunLoop.main.run()
        timer.invalidate()
        say("callouts: \(callouts), sleeps: \(sleeps), early: \(early)")
    }
}
