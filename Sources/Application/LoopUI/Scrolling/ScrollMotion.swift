// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

internal import RunLoops
internal import RunLoopsKit
internal import RunLoopsLibC

/// The movement of a scroll view's content after the finger has left it: v(t) = v₀·rateᵗ, t in milliseconds.
struct Deceleration {
    let start: Point
    /// The velocity at the beginning, in points per millisecond.
    let velocity: Point
    let rate: Double

    init(from start: Point, velocity: Point, rate: Double) {
        self.start = start
        self.velocity = velocity
        self.rate = rate
    }

    /// Makes the deceleration that comes to rest at `target`.
    init(from start: Point, to target: Point, rate: Double) {
        let way = target - start
        self.init(from: start, velocity: Point(way.x * -log(rate), way.y * -log(rate)), rate: rate)
    }

    /// The offset at which the content comes to rest: the integral of the velocity.
    var target: Point { start + Point(velocity.x / -log(rate), velocity.y / -log(rate)) }

    /// Returns the part of the first velocity that is left after a number of milliseconds.
    func part(after milliseconds: Double) -> Double { pow(rate, milliseconds) }

    /// Returns the content offset after a number of milliseconds.
    func offset(after milliseconds: Double) -> Point {
        let part = 1 - part(after: milliseconds)
        let way = target - start
        return start + Point(way.x * part, way.y * part)
    }
}

/// The animated movement of a scroll view's content to an offset that the program has set: fast at first, then slower.
struct ScrollAnimation {
    static let milliseconds = 300.0
    let start: Point
    let target: Point

    func offset(after milliseconds: Double) -> Point {
        let left = max(0, 1 - milliseconds / Self.milliseconds)
        let part = 1 - left * left * left
        let way = target - start
        return start + Point(way.x * part, way.y * part)
    }

    func isOver(after milliseconds: Double) -> Bool { milliseconds >= Self.milliseconds }
}

/// Calls a closure once per frame with the time since the beginning, until the object is released.
@MainActor final class ScrollMotion {
    private var frames: FrameLink?

    /// The display link of the frames, so that its counts can be compared; nil while the frames come from the display's
    /// screen.
    var link: RunLoop.DisplayLink? { frames?.grid }

    /// - Parameters:
    ///   - application: The application, whose frames are taken.
    ///   - modes: The modes in which frames come.
    ///   - start: When the movement begins.
    ///   - step: Called once per frame with the milliseconds since `start`.
    init(
        _ application: Application, in modes: [RunLoop.Mode], from start: RunLoop.Instant,
        step: @escaping (Double) -> Void
    ) {
        frames = FrameLink(application.screenFrames, in: modes) { frame in
            step(start.duration(to: frame.time) / .milliseconds(1))
        }
    }
}
