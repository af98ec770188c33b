// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

extension View {
    /// The options of an animation, which say how its values move.
    ///
    /// The names are those of UIKit's `UIView.AnimationOptions`. A new animation always begins at the value that is
    /// shown, and views can be touched while they move: UIKit's options for both are not needed here.
    public struct AnimationOptions: OptionSet, Hashable, Sendable {
        /// The bits.
        public let rawValue: Int

        /// Makes the options with these bits.
        public init(rawValue: Int) { self.rawValue = rawValue }

        /// Repeats the animation from the first value, until it is interrupted.
        public static let `repeat` = AnimationOptions(rawValue: 1)
        /// Moves the values back to the first ones after each pass.
        ///
        /// A pass and the way back each take the whole duration. Without ``repeat``, the view shows the new value once
        /// the way back has ended.
        public static let autoreverse = AnimationOptions(rawValue: 2)
        /// Moves the values slowly at both ends; the default curve.
        public static let curveEaseInOut: AnimationOptions = []
        /// Moves the values slowly at the beginning.
        public static let curveEaseIn = AnimationOptions(rawValue: 4)
        /// Moves the values slowly at the end.
        public static let curveEaseOut = AnimationOptions(rawValue: 8)
        /// Moves the values at the same speed from beginning to end.
        public static let curveLinear = AnimationOptions(rawValue: 12)

        var curve: AnimationCurve {
            switch rawValue & 12 {
            case 4: AnimationCurve(0.42, 0, 1, 1)
            case 8: AnimationCurve(0, 0, 0.58, 1)
            case 12: AnimationCurve(0, 0, 1, 1)
            default: AnimationCurve(0.42, 0, 0.58, 1)
            }
        }
    }
}

/// A Bézier curve from (0, 0) to (1, 1) that maps the time to the way; the two control points are those of Core
/// Animation.
struct AnimationCurve {
    private let first: Point
    private let second: Point

    init(_ firstX: Double, _ firstY: Double, _ secondX: Double, _ secondY: Double) {
        first = Point(firstX, firstY)
        second = Point(secondX, secondY)
    }

    /// Returns the part of the way after a part of the time, both from 0 to 1.
    func way(after time: Double) -> Double {
        if time <= 0 || time >= 1 { return time <= 0 ? 0 : 1 }
        // The time grows with the parameter: halving finds it.
        var (low, high) = (0.0, 1.0)
        for _ in 0..<30 {
            let middle = (low + high) / 2
            if Self.value(middle, first.x, second.x) < time { low = middle } else { high = middle }
        }
        return Self.value(low, first.y, second.y)
    }

    private static func value(_ t: Double, _ first: Double, _ second: Double) -> Double {
        let left = 1 - t
        return 3 * left * left * t * first + 3 * left * t * t * second + t * t * t
    }
}
