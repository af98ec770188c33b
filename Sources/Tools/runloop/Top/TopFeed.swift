// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import RunLoops
import RunLoopsDiagnostics

/// Requests the statistics of a process's loops at intervals.
@MainActor
final class TopFeed {
    /// The figures from all answers so far.
    private(set) var model = TopModel()
    /// How the requests ended, with a last message if there is one; `nil` until then.
    private(set) var end: Result<String?, any Error>?
    /// Called after each answer, and at each interval in which the process does not answer.
    var whenChanged: () -> Void = {}
    /// Called once, when the requests have ended.
    var whenOver: () -> Void = {}

    private let client: InspectorClient
    private let interval: Duration
    private var items: [RunLoop.Item] = []
    /// When the last request was sent, if it has no answer yet.
    private var asked: RunLoop.Instant?

    /// Begins to request statistics.
    ///
    /// - Parameters:
    ///   - interval: The time between two requests.
    ///   - length: When the requests end; `nil` for the end of the process.
    init(_ client: InspectorClient, every interval: Duration, for length: Duration?) throws {
        self.client = client
        self.interval = interval
        let loop = RunLoop.main
        let timer = RunLoop.Timer.mainActor(.every(interval), tolerance: interval / 10, label: "ask") { [self] _ in
            ask()
        }
        let answers = RunLoop.DescriptorSource.mainActor(client.descriptor, label: "answers") { [self] _, _ in
            takeAnswer()
        }
        items = [timer, answers]
        // A screen that scrolls shows answers too.
        loop.add(timer, in: .common)
        try loop.add(answers, in: .common)
        if let length {
            let over = RunLoop.Timer.mainActor(.after(length), label: "over") { [self] _ in finish(.success(nil)) }
            loop.add(over, in: .common)
            items.append(over)
        }
        ask()
    }

    /// Ends the requests.
    func finish(_ result: Result<String?, any Error>) {
        guard end == nil else { return }
        end = result
        for item in items { item.invalidate() }
        whenOver()
        // These closures hold the feed.
        (items, whenChanged, whenOver) = ([], {}, {})
    }

    private func ask() {
        // One question at a time: a process that is stopped would be asked until its socket is full.
        guard asked == nil else { return whenChanged() }
        do {
            try client.requestStatistics()
            asked = .now
        } catch {
            finish(.failure(ProcessArgument.failure(client.process, error)))
        }
    }

    private func takeAnswer() {
        do {
            guard let report = try client.takeReport() else { return }
            asked = nil
            model.take(report)
            whenChanged()
        } catch {
            if case .gone = error { return finish(.success("process \(client.process) has ended")) }
            finish(.failure(ProcessArgument.failure(client.process, error)))
        }
    }

    /// A line that says why there are no newer figures; `nil` if the process answers.
    var notice: String? {
        guard let silence = asked?.duration(to: .now), silence >= interval else { return nil }
        // The first answer of all may take a moment.
        guard model.count > 0 || silence > .milliseconds(500) else { return nil }
        let state = ProcessArgument.isStopped(client.process) ? "stopped" : "no answer"
        return "\(state) for \(Format.seconds(silence, decimals: 0)) s"
    }
}
