// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

internal import LinuxLibC
internal import RunLoops
internal import RunLoopsKit

/// How a scroll view's content goes on when the finger has left it: v(t) = v₀·rateᵗ, t in milliseconds.
struct Deceleration {
    let start: Point
    /// In points per millisecond.
    let velocity: Point
    let rate: Double

    init(from start: Point, velocity: Point, rate: Double) {
        self.start = start
        self.velocity = velocity
        self.rate = rate
    }

    /// The deceleration that comes to rest at `target`.
    init(from start: Point, to target: Point, rate: Double) {
        let way = target - start
        self.init(from: start, velocity: Point(way.x * -log(rate), way.y * -log(rate)), rate: rate)
    }

    /// Where it comes to rest: the integral of the velocity.
    var target: Point { start + Point(velocity.x / -log(rate), velocity.y / -log(rate)) }

    /// The part of the velocity that is left after so many milliseconds.
    func part(after milliseconds: Double) -> Double { pow(rate, milliseconds) }

    /// Where the content is after so many milliseconds.
    func offset(after milliseconds: Double) -> Point {
        let part = 1 - part(after: milliseconds)
        let way = target - start
        return start + Point(way.x * part, way.y * part)
    }
}

/// How a scroll view's content gets to a place that the program has named: fast first, and slower to the end.
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

/// Calls a step once a frame, with the time since the beginning, until it is released.
@MainActor final class ScrollMotion {
    private var frames: FrameLink?

    /// The grid, so that its counts can be compared; nil while the frames are those of the display's screen.
    var link: RunLoop.DisplayLink? { frames?.grid }

    /// - Parameters:
    ///   - application: The application, whose frames are taken.
    ///   - modes: The modes in which frames come.
    ///   - start: When the movement begins.
    ///   - step: Receives the milliseconds since then.
    init(
        _ application: Application, in modes: [RunLoop.Mode], from start: RunLoop.Instant,
        step: @escaping (Double) -> Void
    ) {
        frames = FrameLink(application.screenFrames, in: modes) { time in
            step(start.duration(to: time) / .milliseconds(1))
        }
    }
}
