// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import Glibc
import RunLoops
import RunLoopsDiagnostics
import RunLoopsEvents
import RunLoopsKit
import RunLoopsPorts
import RunLoopsTestSupport
import Testing

/// Every operation that may need a descriptor, in a process that has 0, 1, 2, … left: it works or throws a typed error,
/// leaves nothing open, lets its loop sleep, and works when there are descriptors again.
///
/// The table of the documentation is printed when everything is asked for.
@Suite(.limited, .serialized) struct RunningOutEverywhereProcessTests {
    // Swift Testing before 6.3 takes no value into an exit test.
    #if compiler(>=6.3)
    @Test(arguments: RunningOutScenes.all.map(\.name))
    func `With few free descriptors an operation succeeds or throws, and its loop does not spin`(name: String) async {
        let result = await #expect(processExitsWith: .success, observing: [\.standardOutputContent]) { [name] in
            await letDispatchOpenItsTimers()
            let scene = try #require(RunningOutScenes.all.first { $0.name == name })
            // What the process makes once and keeps.
            try expectSuccess(try play(scene.play, left: nil))
            var line = "FIG \(name):"
            var works = false
            var left = 0
            while !works, left < 20 {
                let before = countOpenDescriptors()
                let outcome = try play(scene.play, left: left)
                line += " \(left) \(outcome);"
                #expect(outcome.error == nil || outcome.isTyped, "\(left) left: \(outcome)")
                #expect(outcome.waiting < .milliseconds(100), "\(left) left: \(outcome)")
                #expect(countOpenDescriptors() == before, "\(left) left: \(outcome)")
                #expect(outcome.growth.isEmpty, "\(left) left, again and again: \(outcome)")
                works = outcome.error == nil
                left += 1
            }
            #expect(works)
            try expectSuccess(try play(scene.play, left: nil))
            print(line)
            fflush(nil)
        }
        if isFull, let result { print(String(decoding: result.standardOutputContent, as: UTF8.self)) }
    }
    #endif

    @Test(arguments: 0..<4)
    func `With too few free descriptors the main loop runs or traps with a message that names the remedy`(left: Int) {
        let output = Programs.play(
            program: "RunLoopsSynchronousMainPrograms", ["without descriptors", "\(left)"], withErrors: true)
        switch left {
        case 3:
            #expect(output.exitStatus == 0)
            #expect(output.text == "has run: stopped\n")
        default: #expect(output.text.contains("Raise the limit of open files (ulimit -n)"))
        }
    }
}

/// How a scene has ended.
private struct Outcome: CustomStringConvertible {
    var error: (any Error)?
    /// The processor time of the whole process while the loop was seen waiting, which would be all of it in a loop that spins.
    var waiting = Duration.zero
    /// The descriptors that were opened by further failures on the same thread and stay open: what a thread keeps, it keeps
    /// once.
    var growth: [String] = []

    var isTyped: Bool {
        switch error {
        case is RunLoop.SystemCallError, is RunLoop.PortError, is Child.SpawnError, is RunLoop.HangWatch.Refusal,
            is RunLoop.Inspector.StartError:
            true
        default: false
        }
    }

    var description: String {
        let kept = growth.isEmpty ? "" : ", stays open: \(growth.sorted().joined(separator: ", "))"
        return "\(error.map { "throws \($0)" } ?? "works"), \(waiting)\(kept)"
    }
}

private func expectSuccess(_ outcome: Outcome) throws { if let error = outcome.error { throw error } }

/// Plays a scene on a new thread with `left` descriptors, or with all that there are, and watches its loop wait.
private func play(_ scene: @escaping RunningOutScenes.Scene, left: Int?) throws -> Outcome {
    // Longer with each descriptor more, in case the machine is busy: at last that is time enough for what works.
    let stage = try PoorProcess(limit: left.map { .milliseconds(300 * ($0 + 1)) } ?? plenty)
    let scarcity = left.map { Scarcity(left: $0) }
    let outcome = TestThread.run {
        let loop = RunLoop.current
        var outcome = Outcome()
        do { try scene(loop, stage) } catch { outcome.error = error }
        if left == nil { return outcome }
        // On a busy machine the time may be over before a thread opens what it keeps: that is opened in one of the rounds, and what
        // a failure leaves open in each.
        for _ in 0..<3 where outcome.error != nil {
            let kept = openFiles()
            for _ in 0..<5 {
                // What works now, since the first try has opened it, keeps what it opens.
                guard case .failure = Result(catching: { try scene(loop, stage) }) else { return outcome }
            }
            // The other thread closes its ends of connections a moment later.
            let end = RunLoop.Instant.now.advanced(by: .seconds(20))
            while openFiles().count > kept.count, RunLoop.Instant.now < end { usleep(1000) }
            let now = openFiles()
            outcome.growth =
                now.count > kept.count ? now.filter { kept[$0.key] != $0.value }.map { "\($0): \($1)" } : []
            if outcome.growth.isEmpty { break }
        }
        let keeper = RunLoop.Source { _ in }
        loop.add(keeper, in: .default)
        let before = processorTime()
        loop.run(in: .default, for: .milliseconds(isFull ? 500 : 150))
        outcome.waiting = processorTime() - before
        return outcome
    }
    scarcity?.end()
    stage.strike()
    return outcome
}

/// The open descriptors with the names of their files; needs no descriptor itself.
private func openFiles() -> [CInt: String] {
    var files: [CInt: String] = [:]
    var name = [CChar](repeating: 0, count: 128)
    for number in 0..<CInt(1024) where fcntl(number, F_GETFD) >= 0 {
        let count = readlink("/proc/self/fd/\(number)", &name, name.count)
        files[number] = String(decoding: name.prefix(max(0, count)).map(UInt8.init(bitPattern:)), as: UTF8.self)
    }
    return files
}

private func processorTime() -> Duration {
    var time = timespec()
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
    return .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec)
}
