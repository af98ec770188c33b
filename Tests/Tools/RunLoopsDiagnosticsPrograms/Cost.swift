// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import Glibc
import RunLoops
import RunLoopsDiagnostics

/// Operations to be counted by a tool such as callgrind: run with two counts, and take the difference.
///
///     valgrind --tool=callgrind RunLoopsDiagnosticsPrograms turns 20000 looked-at
enum Cost {
    static let scenes: Set<String> = ["turns", "wakes", "blocks", "fires", "answers"]

    /// - Parameter inspected: `off`, `on` (nobody looks), `looked-at` (statistics are kept).
    static func measure(_ scene: String, times: Int, inspected: String) throws {
        if inspected != "off" { try RunLoop.Inspector.start() }
        let loop = RunLoop.main
        var client: InspectorClient?
        if inspected == "looked-at" || scene == "answers" {
            client = InspectorClient.find(getpid())
            try ask(client)
            // The listeners come with the loop's next event.
            loop.runTurn()
        }
        switch scene {
        case "turns": turns(times, loop)
        case "wakes": wakes(times, loop)
        case "blocks": blocks(times, loop)
        case "fires": fires(times, loop)
        default: for _ in 0..<times { try ask(client) }
        }
        withExtendedLifetime(client) {}
    }

    private static func ask(_ client: InspectorClient?) throws {
        try client?.requestStatistics()
        _ = try client?.takeReport(until: InspectorClient.deadline(.seconds(300)))
    }

    private static func turns(_ times: Int, _ loop: RunLoop) {
        let source = RunLoop.Source(label: "source") { _ in }
        loop.add(source, in: .default)
        for _ in 0..<times {
            source.signal()
            loop.runTurn()
        }
    }

    /// A wake-up and the turn that serves it, inside one run.
    private static func wakes(_ times: Int, _ loop: RunLoop) {
        var left = times
        let observer = RunLoop.Observer(.beforeWaiting, label: "waker") { _, _ in
            left -= 1
            if left == 0 { loop.stop() } else { loop.wakeUp() }
        }
        loop.add(observer, in: .default)
        loop.add(RunLoop.Source(label: "keeps the mode") { _ in }, in: .default)
        loop.run(in: .default, until: nil)
    }

    private static func blocks(_ times: Int, _ loop: RunLoop) {
        for _ in 0..<times {
            loop.perform {}
            loop.wakeUp()
            loop.runTurn()
        }
    }

    /// Always due again: no sleep in between.
    private static func fires(_ times: Int, _ loop: RunLoop) {
        var left = times
        let timer = RunLoop.Timer(.every(.nanoseconds(1)), label: "timer") { _ in
            left -= 1
            if left == 0 { loop.stop() }
        }
        loop.add(timer, in: .default)
        loop.run(in: .default, until: nil)
    }
}
