// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

internal import RunLoops

/// How fast something moves, by its last tenth of a second; a pure value.
struct VelocityTracker {
    private var samples: [(time: RunLoop.Instant, place: Point)] = []

    /// The time that counts; our own choice.
    static let window = Duration.milliseconds(100)

    /// Notes a place; of several at one instant the last counts.
    mutating func add(_ place: Point, at time: RunLoop.Instant) {
        if let last = samples.last, last.time == time { samples.removeLast() }
        samples.append((time, place))
        // The last place before the window is where the window begins: what rests is not reported.
        while samples.count > 1, samples[1].time.duration(to: time) >= Self.window { samples.removeFirst() }
    }

    /// Forgets everything.
    mutating func removeAll() { samples = [] }

    /// Points a second; zero while nothing has moved or no time has passed.
    var velocity: Point {
        guard let first = samples.first, let last = samples.last else { return .zero }
        let seconds = min(first.time.duration(to: last.time), Self.window).seconds
        if seconds <= 0 { return .zero }
        let way = last.place - first.place
        return Point(way.x / seconds, way.y / seconds)
    }
}

extension Duration {
    fileprivate var seconds: Double {
        Double(components.seconds) + Double(components.attoseconds) * 1e-18
    }
}
