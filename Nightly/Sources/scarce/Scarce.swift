// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

// Checks the library when the system has no more memory or no more threads. Each operation runs in a process of its own,
// with nothing left, then with a little more, and so on. It must work, throw a typed error or trap with a message. It must
// not hang, spin, end silently or lose accepted work, and it must work again once there is enough.

import ArgumentParser
import Glibc
import NightlyKit
import RunLoops
import RunLoopsDiagnostics
import RunLoopsKit
import RunLoopsPorts

@main struct Scarce: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Plays operations of the library with little memory, and with few threads.")

    @Option(help: "How many seconds to wait for an operation.")
    var patience = 30
    @Option(help: "One limit: memory or threads.")
    var limit: Limit?
    @Option(help: .hidden)
    var play: String?
    @Option(help: .hidden)
    var left = 0

    func run() throws {
        if let play, let limit { return try Player(limit: limit, left: left).play(play) }
        // The runtime's own message is looked for, and not a stack.
        setenv("SWIFT_BACKTRACE", "enable=no", 1)
        for limit in limit.map({ [$0] }) ?? Limit.allCases {
            guard limit.isPossible else {
                print("skipped: a limit of threads needs the privileged user")
                continue
            }
            for scene in Scene.all {
                let outcomes = try limit.amounts.map { left in try outcome(of: scene, limit, left) }
                for (left, outcome) in zip(limit.amounts, outcomes) {
                    check(outcome.isAllowed, "\(scene.name) with \(left) of \(limit.rawValue) left \(outcome)")
                }
                // With the most that is left, each of them works.
                check(outcomes.last?.works == true, "\(scene.name) does not work with enough of \(limit.rawValue)")
                let line = zip(limit.amounts, outcomes).map { "\($0) \($1)" }
                print("\(limit.rawValue): \(scene.name): \(line.joined(separator: "; "))")
            }
        }
        endOfChecks()
    }

    private func outcome(of scene: Scene, _ limit: Limit, _ left: Int) throws -> Outcome {
        let program = try Program(["--play", scene.name, "--limit", limit.rawValue, "--left", "\(left)"])
        guard let status = program.wait(Patience(seconds: patience)) else { return .hangs }
        return Outcome(limit, status: status, text: program.text)
    }
}

extension Limit: ExpressibleByArgument {
    /// How much is left, step by step.
    var amounts: [Int] {
        switch self {
        case .memory: [0, 64, 256, 1024, 4096, 16384, 65536, 262_144]
        case .threads: [0, 1, 2, 3]
        }
    }
}

/// How an operation has ended.
enum Outcome: CustomStringConvertible {
    case works, hangs
    case throwsError(String)
    case traps(String)
    case fails(String)

    init(_ limit: Limit, status: CInt, text: String) {
        let lines = text.split(separator: "\n").map(String.init)
        if status == 0 {
            self = lines.last.map { $0 == "works" ? .works : .throwsError($0) } ?? .fails("says nothing")
        } else if status & 0x7F != 0 {
            if let message = lines.first(where: { $0.contains("error:") }) {
                self = .traps(message)
            } else if limit == .memory {
                // Swift's runtime ends the process when it gets no memory; and its message needs some.
                self = .traps("the runtime, by signal \(status & 0x7F) and without memory for its message")
            } else {
                self = .fails("ends by signal \(status & 0x7F) without a word")
            }
        } else {
            self = .fails(lines.last ?? "ends with \(status >> 8)")
        }
    }

    var works: Bool { if case .works = self { true } else { false } }

    /// Whether it is what the library promises.
    var isAllowed: Bool {
        switch self {
        case .works, .throwsError, .traps: true
        case .hangs, .fails: false
        }
    }

    var description: String {
        switch self {
        case .works: "works"
        case .hangs: "hangs"
        case .throwsError(let text): "throws \(text)"
        case .traps(let text): "traps: \(text)"
        case .fails(let text): "FAILS: \(text)"
        }
    }
}
