// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

internal import RunLoops

/// Recognises a quick movement in one direction; the gesture can end before the finger goes up.
open class SwipeGestureRecognizer: GestureRecognizer {
    /// A set of directions.
    public struct Direction: OptionSet, Hashable, Sendable {
        /// The bits.
        public let rawValue: UInt8

        /// Makes the set of directions with these bits.
        public init(rawValue: UInt8) { self.rawValue = rawValue }

        /// To the right.
        public static var right: Direction { Direction(rawValue: 1) }
        /// To the left.
        public static var left: Direction { Direction(rawValue: 2) }
        /// Upwards.
        public static var up: Direction { Direction(rawValue: 4) }
        /// Downwards.
        public static var down: Direction { Direction(rawValue: 8) }

        /// Returns the direction of a movement; nil if it is as long across as down.
        static func of(_ way: Point) -> Direction? {
            if abs(way.x) > abs(way.y) { return way.x > 0 ? .right : .left }
            if abs(way.y) > abs(way.x) { return way.y > 0 ? .down : .up }
            return nil
        }
    }

    /// The directions in which a movement is a swipe; to the right unless set.
    public var direction = Direction.right
    /// How many fingers have to move; 1 unless set.
    public var numberOfTouchesRequired = 1
    /// How far each finger has to move, in points; 3 unless set, our own choice.
    public var minimumDistance = 3.0
    /// The longest time that a swipe may take; half a second unless set, our own choice.
    public var maximumDuration = Duration.milliseconds(500)

    private var start: RunLoop.Instant?

    open override func touchesBegan(_ touches: Set<Touch>, with event: Event) {
        if active.count > numberOfTouchesRequired {
            state = .failed
            return
        }
        if start == nil { start = event.time }
    }

    open override func touchesMoved(_ touches: Set<Touch>, with event: Event) {
        guard let start, start.duration(to: event.time) <= maximumDuration else {
            state = .failed
            return
        }
        for touch in touches where touch.start.distance(to: touch.position) >= minimumDistance {
            guard let way = Direction.of(touch.position - touch.start), direction.contains(way) else {
                state = .failed
                return
            }
        }
        let areFar = active.allSatisfy { $0.start.distance(to: $0.position) >= minimumDistance }
        if areFar, active.count == numberOfTouchesRequired { state = .ended }
    }

    open override func touchesEnded(_ touches: Set<Touch>, with event: Event) {
        touchesMoved(touches, with: event)
        if state == .possible { state = .failed }
    }
    open override func reset() { start = nil }
}
