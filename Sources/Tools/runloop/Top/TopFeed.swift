// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import RunLoops
import RunLoopsDiagnostics

/// Asks a process again and again what its loops have counted.
@MainActor
final class TopFeed {
    /// The answers so far.
    private(set) var model = TopModel()
    /// How it ended, with what is still to be said; `nil` as long as it goes on.
    private(set) var end: Result<String?, any Error>?
    /// Called after each answer, and instead of each question while the process owes an answer.
    var whenChanged: () -> Void = {}
    /// Called once, when there will be no more answers.
    var whenOver: () -> Void = {}

    private let client: InspectorClient
    private let interval: Duration
    private var items: [RunLoop.Item] = []
    /// Since when there is no answer to the last question.
    private var asked: RunLoop.Instant?

    /// - Parameters:
    ///   - interval: How often the process is asked.
    ///   - length: How long; until the process ends if `nil`.
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

    /// Asks no more.
    func finish(_ result: Result<String?, any Error>) {
        guard end == nil else { return }
        end = result
        for item in items { item.invalidate() }
        whenOver()
        // What they do holds the feed.
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

    /// Why there are no newer figures, if the process owes an answer.
    var notice: String? {
        guard let silence = asked?.duration(to: .now), silence >= interval else { return nil }
        // The first answer of all may take a moment.
        guard model.count > 0 || silence > .milliseconds(500) else { return nil }
        let state = ProcessArgument.isStopped(client.process) ? "stopped" : "no answer"
        return "\(state) for \(Format.seconds(silence, decimals: 0)) s"
    }
}
