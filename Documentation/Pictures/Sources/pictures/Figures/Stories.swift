// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import Foundation

/// The recordings of the example Stories as pictures: one over the seconds, the others over the wake-ups.
func storyPictures(root: URL) throws -> [Picture] {
    let folder = root.appending(path: "Examples/Stories/Tests/StoriesTests/Golden")
    return try [
        Story(
            name: "1-launch", title: "The launch", isInSeconds: false,
            says: [
                "Each column is a wake-up, in order. The first one,",
                "shaded, is in the mode of the launch. Ctrl-Z and fg",
                "are an event each.",
            ]),
        Story(
            name: "2-stuck-timer", title: "The stuck timer", isInSeconds: true,
            says: ["The ticks stop while the loop runs in the tracking mode,", "and go on after it."]),
        Story(
            name: "3-tap-and-pan", title: "A tap and a pan", isInSeconds: true,
            says: [
                "A tap, and after 0.4 s a pan, whose events come 30 ms apart.",
                "A frame is drawn when the screen has something new.",
            ]),
        Story(
            name: "4-commit", title: "A commit", isInSeconds: false,
            says: [
                "Each column is a wake-up, in order. The transaction",
                "acts before each sleep and at the end of each run.",
            ]),
        Story(
            name: "5-pools", title: "Release pools", isInSeconds: false,
            says: [
                "Each column is a wake-up, in order. The pool empties",
                "last, before each sleep and at the end of each run.",
            ]),
        Story(
            name: "6-picture", title: "A waiting picture", isInSeconds: false,
            says: [
                "Each column is a callout, in order; shaded ones are in",
                "the tracking mode. The block that tells of the picture",
                "runs there, and the one that sets the picture waits.",
            ]),
        Story(
            name: "7-work", title: "Kinds of work", isInSeconds: false,
            says: [
                "Each column is a wake-up, in order: a block and the",
                "block that it has posted, then a signalled source.",
            ]),
    ].map { story in
        let file = folder.appending(path: "\(story.name).tsv")
        guard let text = try? String(contentsOf: file, encoding: .utf8) else {
            throw Complaint("\(story.name): there is no recording \(file.path())")
        }
        return story.picture(of: try StoryEvent.read(text))
    }
}

/// A line of a recording.
struct StoryEvent {
    var milliseconds: Int
    /// A kind of callout, or `mode`, or `woke`.
    var what: String
    /// The label, the mode or the cause.
    var name: String

    static func read(_ text: String) throws -> [StoryEvent] {
        try text.split(separator: "\n").map { line in
            let parts = line.split(separator: "\t").map(String.init)
            guard parts.count == 3, let time = Int(parts[0]) else {
                throw Complaint("not a line of a recording: \(line)")
            }
            // A block has no name but its place. The line changes with each edit of the file.
            let file = parts[1] == "block" ? parts[2].split(separator: "/").last?.split(separator: ":").first : nil
            return StoryEvent(milliseconds: time, what: parts[1], name: file.map { "a block of \($0)" } ?? parts[2])
        }
    }
}

private struct Story {
    var name: String
    var title: String
    /// Whether the axis is the time; otherwise each wake-up is as wide as the others.
    var isInSeconds: Bool
    var says: [String]

    func picture(of events: [StoryEvent]) -> Picture {
        let chart = isInSeconds ? inSeconds(events) : inTurns(events)
        return Picture(
            name: "story-\(name)", title: "A recording: \(title)",
            description: says.joined(separator: " ") + " The rows: "
                + chart.rows.map { "\($0.label), \($0.marks.count) times" }.joined(separator: "; ") + ".",
            content: .column([.chart(chart), .text(says.map(Line.note))], gap: 18))
    }

    private func inSeconds(_ events: [StoryEvent]) -> Chart {
        let total = Double(events.last?.milliseconds ?? 0) + 1
        func at(_ event: StoryEvent) -> Double { Double(event.milliseconds) / total }
        var bands: [Chart.Band] = []
        for event in events where event.what == "mode" && event.name != bands.last?.name {
            if !bands.isEmpty { bands[bands.count - 1].to = at(event) }
            bands.append(Chart.Band(from: bands.isEmpty ? 0 : at(event), to: 1, name: event.name))
        }
        bands = bands.map { band in
            var band = band
            let isTracking = band.name.contains("Tracking")
            (band.kind, band.name) = isTracking ? (.look, "tracking mode") : (nil, "default")
            return band
        }
        let seconds = (0...Int(total / 1000)).map { (at: Double($0) * 1000 / total, name: "\($0) s") }
        return Chart(
            rows: rows(events.filter { $0.what != "observer" }.map { ($0, at($0)) }), bands: bands, axis: seconds)
    }

    /// A column for each wake-up; in a recording without wake-ups, for each callout.
    private func inTurns(_ events: [StoryEvent]) -> Chart {
        let hasWakeUps = events.contains { $0.what == "woke" }
        var turns: [(mode: String, events: [StoryEvent])] = [("", [])]
        for event in events {
            switch event.what {
            case "woke": turns.append((turns[turns.count - 1].mode, []))
            case "mode" where turns[turns.count - 1].events.isEmpty: turns[turns.count - 1].mode = event.name
            case "mode": if event.name != turns[turns.count - 1].mode { turns.append((event.name, [])) }
            default:
                turns[turns.count - 1].events.append(event)
                if !hasWakeUps { turns.append((turns[turns.count - 1].mode, [])) }
            }
        }
        let isShaded = { (mode: String) in !mode.isEmpty && !mode.contains("Default") }
        turns.removeAll { turn in
            turn.events.isEmpty || !isShaded(turn.mode) && turn.events.allSatisfy { $0.what == "observer" }
        }
        let count = Double(turns.count)
        let placed = turns.enumerated().flatMap { index, turn in
            turn.events.enumerated().map { place, event in
                (event, (Double(index) + Double(place + 1) / Double(turn.events.count + 1)) / count)
            }
        }
        let bands = turns.enumerated().map { index, turn in
            Chart.Band(
                from: Double(index) / count, to: Double(index + 1) / count, name: "\(index + 1)",
                kind: isShaded(turn.mode) ? .look : nil)
        }
        return Chart(rows: rows(placed), bands: bands)
    }

    /// A row for each label, in the order in which they came.
    private func rows(_ events: [(StoryEvent, Double)]) -> [Chart.Row] {
        var rows: [Chart.Row] = []
        for (event, at) in events where event.what != "mode" && event.what != "woke" {
            if let index = rows.firstIndex(where: { $0.label == event.name }) {
                rows[index].marks.append(at)
            } else {
                rows.append(Chart.Row(label: event.name, kind: event.what == "observer" ? .told : .work, marks: [at]))
            }
        }
        return rows
    }
}
