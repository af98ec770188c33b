// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import Glibc
import RunLoops
import RunLoopsEvents

/// What `runloop top` and `runloop doctor` say of the daemon, if `RUNLOOP` names that tool.
final class Instruments {
    /// The parts that have to be named: their labels in the daemon.
    static let parts = [
        "incoming files", "settings", "SIGHUP", "commands", "converter", "housekeeping", "watchdog",
    ]

    private(set) var text = ""
    private(set) var isDone = true
    private let tool: String?
    private let loop = RunLoop.current

    init() { tool = getenv("RUNLOOP").map { String(cString: $0) } }

    /// The parts that no instrument has named; `nil` without the tool.
    var missing: [String]? { tool == nil ? nil : Self.parts.filter { !text.contains($0) } }

    /// Looks at a process for some seconds.
    func look(at process: CInt, _ folder: String) {
        guard let tool else { return }
        isDone = false
        let trace = "\(folder)/trace.json"
        let calls = [
            [tool, "ps"], [tool, "top", "--once", "--every", "4s", "\(process)"], [tool, "dump", "\(process)"],
            [tool, "trace", "--for", "4s", "--output", trace, "\(process)"], [tool, "doctor", trace],
        ]
        run(calls[...])
    }

    private func run(_ calls: ArraySlice<[String]>) {
        guard let call = calls.first else {
            isDone = true
            return
        }
        do {
            let child = try Child.spawn(
                .path(call[0]), arguments: Array(call.dropFirst()), input: .null, output: .pipe,
                error: .combinedWithOutput)
            let completion = ChildCompletion(child) { [self] _, result in
                text += "\n$ runloop \(call.dropFirst().joined(separator: " "))\n"
                switch result {
                case .success(let report): text += report.outputText
                case .failure(let failure): text += "\(failure)\n\(failure.report.outputText)"
                }
                run(calls.dropFirst())
            }
            try loop.add(completion, in: .default)
        } catch {
            text += "\(error)\n"
            isDone = true
        }
    }
}
