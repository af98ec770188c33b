// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import OracleScenarios

/// Runs a range of scenarios in a process of its own, and reports each to the parent process in lines of text.
///
/// A process of its own has a true main thread for the scenarios that need one, starts with clean main loops, and may
/// crash without taking the others with it.
struct Worker {
    let seed: UInt64
    let subject: Subject
    let shrinks: Int

    func run(_ range: Range<Int>) {
        raiseDescriptorLimit()
        let comparison = subject.comparison
        var shrinks = shrinks
        for number in range {
            WorkerLine.started(number).write()
            let scenario = ScenarioGenerator.scenario(number, seed: seed, mainThread: true)
            switch comparison.compare(scenario) {
            case .same: break
            case .settled: WorkerLine.settled(number).write()
            case .awake: WorkerLine.awake(number).write()
            case .reordered: WorkerLine.reordered(number).write()
            case .different(let difference):
                guard shrinks > 0 else {
                    WorkerLine.different(number, nil).write()
                    continue
                }
                shrinks -= 1
                let shrunk = Shrinker.shrink(difference, comparison)
                WorkerLine.different(number, Report.difference(shrunk)).write()
            }
        }
        WorkerLine.ended.write()
    }

    /// Raises the limit of open descriptors, because the main loop never removes a mode, and each mode has descriptors.
    private func raiseDescriptorLimit() {
        var limit = rlimit()
        guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return }
        limit.rlim_cur = limit.rlim_max
        _ = setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
    }
}

/// The lines that a worker writes to its parent.
enum WorkerLine {
    case started(Int)
    case settled(Int)
    case awake(Int)
    case reordered(Int)
    case different(Int, String?)
    case ended

    func write() {
        let line =
            switch self {
            case .started(let number): "started \(number)"
            case .settled(let number): "settled \(number)"
            case .awake(let number): "awake \(number)"
            case .reordered(let number): "reordered \(number)"
            case .different(let number, nil): "different \(number)"
            case .different(let number, let text?):
                "different \(number) " + text.replacing("\n", with: "\u{1F}")
            case .ended: "ended"
            }
        var bytes = Array((line + "\n").utf8)[...]
        while !bytes.isEmpty {
            let written = bytes.withUnsafeBytes { Glibc.write(STDOUT_FILENO, $0.baseAddress, $0.count) }
            // The parent has gone: nobody wants to know.
            guard written > 0 else { exit(2) }
            bytes = bytes.dropFirst(written)
        }
    }

    init?(_ line: Substring) {
        let words = line.split(separator: " ", maxSplits: 2, omittingEmptySubsequences: false)
        switch (words.first, words.count > 1 ? Int(words[1]) : nil) {
        case ("started", let number?): self = .started(number)
        case ("settled", let number?): self = .settled(number)
        case ("awake", let number?): self = .awake(number)
        case ("reordered", let number?): self = .reordered(number)
        case ("different", let number?):
            self = .different(number, words.count > 2 ? String(words[2].replacing("\u{1F}", with: "\n")) : nil)
        case ("ended", _): self = .ended
        default: return nil
        }
    }
}
