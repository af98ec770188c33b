// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

internal import RunLoops

/// How fast something moves, by its last tenth of a second; a pure value.
struct VelocityTracker {
    private var samples: [(time: RunLoop.Instant, place: Point)] = []

    /// The time that counts; our own choice.
    static let window = Duration.milliseconds(100)
    /// The shortest time that a way is taken to last; our own choice.
    ///
    /// A place has the time at which it was read. A slow line hands over many places at once, and the way from the first
    /// to the last would have taken no time.
    static let shortest = Duration.milliseconds(50)

    /// Notes a place; of several at one instant the last counts.
    mutating func add(_ place: Point, at time: RunLoop.Instant) {
        if let last = samples.last, last.time == time { samples.removeLast() }
        samples.append((time, place))
        // The last place before the window is where the window begins: what rests is not reported.
        while samples.count > 1, samples[1].time.duration(to: time) >= Self.window { samples.removeFirst() }
    }

    /// Forgets everything.
    mutating func removeAll() { samples = [] }

    /// Points a second; zero while nothing has moved.
    var velocity: Point {
        guard let first = samples.first, let last = samples.last else { return .zero }
        let seconds = max(Self.shortest, min(first.time.duration(to: last.time), Self.window)).seconds
        let way = last.place - first.place
        return Point(way.x / seconds, way.y / seconds)
    }
}

extension Duration {
    fileprivate var seconds: Double {
        Double(components.seconds) + Double(components.attoseconds) * 1e-18
    }
}
