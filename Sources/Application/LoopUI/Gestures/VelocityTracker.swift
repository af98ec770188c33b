// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

internal import RunLoops

/// Measures how fast something moves, over its last tenth of a second; a pure value.
struct VelocityTracker {
    private var samples: [(time: RunLoop.Instant, place: Point)] = []

    /// The time over which the velocity is measured; our own choice.
    static let window = Duration.milliseconds(100)
    /// The shortest duration by which a distance is divided; our own choice.
    ///
    /// The time of a position is the time at which it was read. A slow line delivers many positions at once, and the
    /// movement from the first to the last would have taken no time.
    static let shortest = Duration.milliseconds(50)

    /// Adds a position; of several positions at one instant the last counts.
    mutating func add(_ place: Point, at time: RunLoop.Instant) {
        if let last = samples.last, last.time == time { samples.removeLast() }
        samples.append((time, place))
        // The last place before the window is where the window begins: what rests is not reported.
        while samples.count > 1, samples[1].time.duration(to: time) >= Self.window { samples.removeFirst() }
    }

    /// Removes all positions.
    mutating func removeAll() { samples = [] }

    /// The velocity in points per second; zero if nothing has moved.
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
