// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import RunLoops
import RunLoopsDiagnostics
import RunLoopsSystem

/// A process, given by its number on the command line.
struct ProcessArgument: ExpressibleByArgument {
    /// Completes the numbers of the processes that can be inspected.
    static var defaultCompletionKind: CompletionKind {
        .custom { _, _, _ in InspectorClient.all().map { "\($0.process)" } }
    }

    let number: Int32

    init?(argument: String) {
        guard let number = Int32(argument), number > 0 else { return nil }
        self.number = number
    }

    func connect() throws -> InspectorClient {
        if let client = InspectorClient.find(number) { return client }
        if Self.status(number) == nil { throw CommandFailure("there is no process \(number)") }
        throw CommandFailure(
            "process \(number) cannot be looked into: it must be this user's, link RunLoopsDiagnostics, and be started "
                + "with RUNLOOP_INSPECT=1 or call Inspector.start()")
    }

    func ask<Answer>(_ questions: (InspectorClient) throws -> Answer) throws -> Answer {
        let client = try connect()
        do { return try questions(client) } catch let reason as InspectorClient.Failure {
            throw Self.failure(number, reason)
        }
    }

    /// The longest wait for the answer to a recording request.
    private static let patience = Duration.seconds(10)

    /// Records the activity of the process's loops, and returns the trace as JSON.
    ///
    /// - Parameters:
    ///   - length: The duration of the recording; five seconds if `nil`. A signal that asks this tool to end ends the
    ///     recording sooner.
    ///   - events: The number of events that are kept for each loop.
    /// - Returns: The trace, and how long was recorded.
    func record(for length: Duration?, events: Int = RecordedProgram.usualEvents) throws -> (
        json: String, time: Duration
    ) {
        try ask { client in
            try client.record(capacity: events, within: Self.patience)
            let start = ContinuousClock.now
            try MainActor.assumeIsolated {
                try RunLoop.stoppedBySignals { RunLoop.main.run(in: .default, for: length ?? .seconds(5)) }
            }
            let time = ContinuousClock.now - start
            return (try client.takeRecording(within: Self.patience), time)
        }
    }

    /// Returns the error of a command that got no answer from a process.
    static func failure(_ process: Int32, _ reason: InspectorClient.Failure) -> CommandFailure {
        CommandFailure("process \(process): \(state(process, reason))")
    }

    /// Returns a sentence that says why a process gives no answer.
    static func state(_ process: Int32, _ reason: InspectorClient.Failure) -> String {
        if case .silent = reason, isStopped(process) { "stopped" } else { "\(reason)" }
    }

    /// Whether a signal or a debugger has stopped the process.
    static func isStopped(_ process: Int32) -> Bool {
        guard let text = status(process), let end = text.lastIndex(of: ")") else { return false }
        return ["T", "t"].contains(text[end...].dropFirst(2).first)
    }

    private static func status(_ process: Int32) -> String? {
        try? TextFile.read(SystemText(prefixOf: "/proc/\(process)/stat".utf8))
    }
}
