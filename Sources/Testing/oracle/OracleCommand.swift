// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import Glibc
internal import OracleScenarios

/// Runs random scenarios on the real `CFRunLoop` and on ours, and compares everything that happens.
@main
struct OracleCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "oracle",
        abstract: "Compare the run loop with the real CFRunLoop on random scenarios.",
        discussion: """
            Each scenario is run on both; a difference is shrunk and printed, and makes the exit status 1. Scenarios are \
            numbered: the same seed and number always make the same scenario.
            """)

    @Option(help: "How many scenarios to run.")
    var scenarios = 10_000

    @Option(help: "The seed they are made from.")
    var seed: UInt64 = 1

    @Option(help: "The number of the first one.")
    var first = 0

    @Option(help: "What is compared: \(Subject.allCases.map(\.rawValue).joined(separator: ", ")).")
    var subject = Subject.loop

    @Option(help: "How many processes run them at the same time.")
    var jobs = 2

    @Option(help: "Print this scenario and what both loops make of it, and run no other.")
    var show: Int?

    @Option(help: "How many differences to shrink and print; the others are only counted.")
    var print = 5

    @Flag(help: "Name the scenarios that settled, and list the differences that are kept on purpose.")
    var verbose = false

    @Flag(help: .hidden)
    var worker = false

    func validate() throws {
        guard scenarios >= 0, first >= 0, jobs >= 1, print >= 0 else {
            throw ValidationError("Counts cannot be negative, and at least one job is needed.")
        }
    }

    func run() throws {
        if worker {
            return Worker(seed: seed, subject: subject, shrinks: print).run(first..<(first + scenarios))
        }
        if let show { return Self.show(show, seed: seed, subject) }
        var pool = WorkerPool(
            seed: seed, subject: subject, jobs: jobs, prints: print, isVerbose: verbose)
        let tally = try pool.run(first..<(first + scenarios))
        if verbose {
            Swift.print("Kept on purpose:")
            for kept in KeptDifference.all {
                Swift.print("- \(kept.difference)\n  \(kept.rules)\n  Here: \(kept.handling)")
            }
        }
        Swift.print("\(tally.settled) settled on re-run (timing)")
        Swift.print(
            "\(tally.awake) the same but for a sleep in a mode that has lost its last item (Specification 9.18)")
        Swift.print("\(tally.reordered) the same in another order of what was ready together (Specification 9.19)")
        Swift.print("\(scenarios) scenarios, \(tally.differences) differences")
        let failures = tally.failures(scenarios: scenarios)
        for failure in failures { Swift.print("FAILED: \(failure)") }
        if !failures.isEmpty { throw ExitCode(1) }
    }

    private static func show(_ number: Int, seed: UInt64, _ subject: Subject) {
        let scenario = ScenarioGenerator.scenario(number, seed: seed, mainThread: true)
        let traces = subject.comparison.traces(scenario)
        Swift.print(scenario.program, "", Report.sideBySide(traces.real, traces.ours), separator: "\n")
    }
}
