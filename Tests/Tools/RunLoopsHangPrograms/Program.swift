// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

// Programs with something wrong, for the tests of the hang watch: each hangs in its own way, in a process of its own.
// The first argument says which scene is played; every report is a line of JSON.

import Glibc
import RunLoops
import RunLoopsDiagnostics

func say(_ text: String) {
    print(text)
    fflush(nil)
}

@main struct Program {
    static func main() {
        do {
            try play()
        } catch {
            say("\(error)")
            exit(1)
        }
    }

    static func play() throws {
        let arguments = CommandLine.arguments
        let scene = arguments.dropFirst().first ?? ""
        let argument = arguments.dropFirst(2).first
        var options = RunLoop.HangWatch.Options()
        if scene == "naps" { options.samplingInterval = .milliseconds(1) }
        if scene == "dies" || scene == "kept" {
            options.directory = argument
            options.keepsReports = scene == "kept"
        }
        if scene.hasPrefix("ring") { options.taskLimit = .milliseconds(300) }
        let ended = Flag()
        let watch = try RunLoop.HangWatch(options: options) { report in
            say(report.json)
            if report.stage == .ended { ended.set() }
            if report.cause == .tasksInRing { RunLoop.main.stop() }
        }
        try watch.add(.main)
        switch scene {
        case "sleep": hang("napper") { takeANap(.milliseconds(800)) }
        case "spin": hang("spinner") { spinHard(.milliseconds(800)) }
        case "kept": hang("spinner") { spinHard(.milliseconds(400)) }
        case "lock": holdingLock { hang("locker") { waitForTheLock() } }
        case "tiny": tiny()
        case "starved": starved()
        case "stopped": stopped()
        case "dies": hang("sleeper") { takeANap(.seconds(600)) }
        case "nested": nested()
        case "healthy": healthy(.seconds(argument.flatMap(Int.init) ?? 3))
        case "busy": busy(.seconds(argument.flatMap(Int.init) ?? 3))
        case "fork": fork(watch)
        case "ends": ends()
        case let scene where hostile.contains(scene): hang("hostile") { playHostile(scene, argument ?? "") }
        case "ring":
            Ring.tie()
            RunLoop.main.add(RunLoop.Source(label: "keeps it") { _ in }, in: .default)
            RunLoop.main.run(in: .default, until: nil)
            // Only once: the same tasks are not reported in the next sleep.
            RunLoop.main.run(in: .default, for: .seconds(1))
        case "ring-blocked":
            Ring.tie()
            hang("knotted") { takeANap(.milliseconds(800)) }
        case "idle": idle(seconds: argument.flatMap(UInt32.init) ?? 2)
        default: say("what?")
        }
        RunLoop.main.add(RunLoop.Source(label: "waits") { _ in }, in: .default)
        let ending = ["sleep", "spin", "kept", "lock", "tiny", "starved", "ring-blocked"]
        let hangs = ending.contains(scene) || hostile.contains(scene)
        // Until the watcher has seen the end; reading the names of all functions takes its time.
        repeat { RunLoop.main.run(in: .default, for: .milliseconds(100)) } while hangs && !ended.isSet
        watch.stop()
        say("standstills: \(RunLoop.HangWatch.standstills)")
    }

    /// Has a timer call `body` once, and runs the loop until it has.
    static func hang(_ label: String, _ body: @escaping () -> Void) {
        let timer = RunLoop.Timer(.after(.milliseconds(1)), label: label) { _ in
            body()
            RunLoop.main.stop()
        }
        RunLoop.main.add(timer, in: .default)
        RunLoop.main.run()
    }

    /// The nested run comes to rest in between; a callout that only sleeps does not.
    static func nested() {
        hang("around") {
            let keeps = RunLoop.Source(label: "keeps it") { _ in }
            RunLoop.main.add(keeps, in: .default)
            RunLoop.main.run(in: .default, for: .milliseconds(800))
            keeps.invalidate()
        }
    }

    static func tiny() {
        for _ in 0..<9_000 { RunLoop.main.perform { spinHard(.microseconds(80)) } }
        for _ in 0..<1_000 { RunLoop.main.perform { spinHard(.microseconds(40)) } }
        RunLoop.main.perform { RunLoop.main.stop() }
        RunLoop.main.run()
    }

    /// Short callouts with sleeps in between, and now and then a longer callout that stays below the limit.
    static func healthy(_ time: Duration) {
        for milliseconds in [7, 10, 13] {
            let timer = RunLoop.Timer(.every(.milliseconds(milliseconds)), label: "every \(milliseconds)") { _ in
                spinHard(.milliseconds(1))
            }
            RunLoop.main.add(timer, in: .default)
        }
        let long = RunLoop.Timer(.every(.milliseconds(331)), label: "long") { _ in takeANap(.milliseconds(100)) }
        RunLoop.main.add(long, in: .default)
        RunLoop.main.run(in: .default, for: time)
    }

    /// Sleeps, and counts how often the watching thread wakes up meanwhile.
    static func idle(seconds: UInt32) {
        let source = RunLoop.Source(label: "waits") { _ in }
        RunLoop.main.add(source, in: .default)
        let counter = Thread {
            let watcher = Task.named("hang watch")
            // Until it has seen that the loop sleeps.
            var before = watcher.switches
            repeat {
                before = watcher.switches
                sleep(1)
            } while watcher.switches != before
            sleep(seconds)
            say("wake-ups of the watcher: \(watcher.switches - before)")
            RunLoop.main.stop()
        }
        RunLoop.main.run()
        counter.join()
    }
}
