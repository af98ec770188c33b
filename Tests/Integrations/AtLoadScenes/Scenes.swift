// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

// The same scenes for each program that links libraries which act at load. No line names one of these libraries.

import CoreFoundation
import Foundation
import Glibc
import RunLoops

import class RunLoops.RunLoop

/// A timer of this package's main loop and one of Foundation's, and whether they have fired.
@MainActor
private final class Fires {
    private var fired: Set<String> = []
    private var timer: RunLoop.Timer?
    private var foundationTimer: Foundation.Timer?
    private let start = ContinuousClock.now
    private let expected: Set<String>

    init(expected: Set<String>) {
        self.expected = expected
        let timer = RunLoop.Timer.mainActor(.after(.zero, every: .milliseconds(2))) { [unowned self] _ in
            fired.insert("ours")
        }
        RunLoop.main.add(timer, in: .common)
        self.timer = timer
        foundationTimer = .scheduledTimer(withTimeInterval: 0.002, repeats: true) { [unowned self] _ in
            MainActor.assumeIsolated { _ = fired.insert("Foundation's") }
        }
    }

    /// Whether the expected timers have fired, and the others have had 50 ms to fire; or a minute is over.
    var isOver: Bool {
        let time = start.duration(to: .now)
        return time > .milliseconds(50) && expected.isSubset(of: fired) || time > .seconds(60)
    }

    func end() -> String {
        timer?.invalidate()
        foundationTimer?.invalidate()
        return fired.sorted(by: >).joined(separator: " and ")
    }
}

/// Runs all scenes, each of which prints a line.
///
/// Called at the beginning of an async `main`.
///
/// The arguments of the program say which timers the three first scenes wait for: `ours`, `foundations`, `both` or `none`.
@MainActor
public func runScenes() async {
    let expected = CommandLine.arguments.dropFirst().map { word -> Set<String> in
        switch word {
        case "ours": ["ours"]
        case "foundations": ["Foundation's"]
        case "both": ["ours", "Foundation's"]
        default: []
        }
    }
    guard expected.count == 3 else {
        fatalError("three arguments: what fires in this loop, in Foundation's, under a task")
    }
    synchronousScenes(expected)
    let fires = Fires(expected: expected[2])
    while !fires.isOver { try? await Task.sleep(for: .milliseconds(2)) }
    print("under an async main: \(fires.end())")
}

@MainActor
private func synchronousScenes(_ expected: [Set<String>]) {
    for round in ["", ", again"] {
        let inOurs = Fires(expected: expected[0])
        while !inOurs.isOver { RunLoop.main.run(in: .default, for: .milliseconds(5)) }
        print("in this loop\(round): \(inOurs.end())")
        let inFoundations = Fires(expected: expected[1])
        while !inFoundations.isOver { CFRunLoopRunInMode(kCFRunLoopDefaultMode, 0.005, false) }
        print("in Foundation's loop\(round): \(inFoundations.end())")
    }
    nested(expected[1])
    stops()
}

/// A run of Foundation's loop in a callout of this loop, as a wait of XCTest's in a handler.
@MainActor
private func nested(_ expected: Set<String>) {
    var result = ""
    RunLoop.performOnMainActor {
        let fires = Fires(expected: expected)
        while !fires.isOver { CFRunLoopRunInMode(kCFRunLoopDefaultMode, 0.005, false) }
        result = fires.end()
    }
    while result.isEmpty { RunLoop.main.run(in: .default, for: .milliseconds(5)) }
    print("in Foundation's loop inside this loop: \(result)")
}

/// A stop of another thread ends the program's run, and no run of another library's.
@MainActor
private func stops() {
    var stopped = 0
    let keeper = RunLoop.Timer(.after(.seconds(60))) { _ in }
    RunLoop.main.add(keeper, in: .default)
    for _ in 0..<100 {
        Thread.detachNewThread { RunLoop.main.perform { RunLoop.main.stop() } }
        if RunLoop.main.run(in: .default, for: .seconds(60)) == .stopped { stopped += 1 }
    }
    keeper.invalidate()
    print("\(stopped) of 100 runs were stopped")
}
