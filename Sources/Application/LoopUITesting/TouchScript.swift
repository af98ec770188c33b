// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

public import LoopUI

/// A script of touches and their times.
public struct TouchScript: Sendable {
    /// An input, and the time between the step before and this input.
    public struct Step: Sendable {
        /// The time since the step before.
        public var delay: Duration
        /// The input at this time.
        public var input: PointerInput
    }

    /// The steps in order.
    public private(set) var steps: [Step] = []

    /// Makes a script without steps.
    public init() {}

    /// Adds an input.
    public mutating func add(
        _ phase: PointerInput.Phase, at point: Point, finger: Int = 0, after delay: Duration = .zero
    ) {
        steps.append(Step(delay: delay, input: PointerInput(phase, at: point, identifier: finger)))
    }

    /// Returns the script of a finger that goes down, moves in even steps and goes up.
    ///
    /// - Parameters:
    ///   - start: The point at which the finger goes down.
    ///   - end: The point at which the finger goes up.
    ///   - duration: The time from the beginning to the end.
    ///   - steps: The number of moves between the beginning and the end.
    ///   - finger: The number of the finger.
    public static func drag(
        from start: Point, to end: Point, lasting duration: Duration = .milliseconds(300), steps: Int = 10,
        finger: Int = 0
    ) -> TouchScript {
        var script = TouchScript()
        script.add(.began, at: start, finger: finger)
        for step in 1...max(1, steps) {
            let part = Double(step) / Double(max(1, steps))
            let way = end - start
            script.add(
                .moved, at: start + Point(way.x * part, way.y * part), finger: finger,
                after: duration / max(1, steps))
        }
        script.add(.ended, at: end, finger: finger)
        return script
    }

    /// Returns the script of a finger that goes down, stays and goes up.
    public static func hold(at point: Point, for duration: Duration, finger: Int = 0) -> TouchScript {
        var script = TouchScript()
        script.add(.began, at: point, finger: finger)
        script.add(.ended, at: point, finger: finger, after: duration)
        return script
    }

    /// Returns the script of two fingers that move away from each other or towards each other, on a level line.
    public static func pinch(
        around center: Point, from start: Double, to end: Double, lasting duration: Duration = .milliseconds(300),
        steps: Int = 10
    ) -> TouchScript {
        var script = TouchScript()
        func place(_ finger: Int, _ distance: Double) -> Point {
            center + Point(finger == 0 ? -distance / 2 : distance / 2, 0)
        }
        for finger in 0...1 { script.add(.began, at: place(finger, start), finger: finger) }
        for step in 1...max(1, steps) {
            let distance = start + (end - start) * Double(step) / Double(max(1, steps))
            script.add(.moved, at: place(0, distance), finger: 0, after: duration / max(1, steps))
            script.add(.moved, at: place(1, distance), finger: 1)
        }
        for finger in 0...1 { script.add(.ended, at: place(finger, end), finger: finger) }
        return script
    }
}
