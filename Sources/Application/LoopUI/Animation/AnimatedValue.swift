// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

/// A value of a view that an animation can move.
enum AnimatedValue: Equatable {
    case frame(Rect)
    case contentOrigin(Point)
    case alpha(Double)
    case backgroundColor(Color)

    /// The property of a view that has the value.
    enum Property: CaseIterable {
        case frame
        case contentOrigin
        case alpha
        case backgroundColor
    }

    var property: Property {
        switch self {
        case .frame: .frame
        case .contentOrigin: .contentOrigin
        case .alpha: .alpha
        case .backgroundColor: .backgroundColor
        }
    }

    /// Returns a value between this one and a target of the same property.
    ///
    /// Coordinates are rounded to whole points, so that everything in a view moves to its next cells at the same time.
    func moved(to target: AnimatedValue, part: Double) -> AnimatedValue {
        func between(_ start: Double, _ end: Double) -> Double { start + (end - start) * part }
        switch (self, target) {
        case (.frame(let start), .frame(let end)):
            return .frame(
                Rect(
                    between(start.minX, end.minX).rounded(), between(start.minY, end.minY).rounded(),
                    between(start.width, end.width).rounded(), between(start.height, end.height).rounded()))
        case (.contentOrigin(let start), .contentOrigin(let end)):
            return .contentOrigin(Point(between(start.x, end.x).rounded(), between(start.y, end.y).rounded()))
        case (.alpha(let start), .alpha(let end)): return .alpha(between(start, end))
        case (.backgroundColor(let start), .backgroundColor(let end)):
            return .backgroundColor(start.mixed(with: end, part: part) ?? (part < 0.5 ? start : end))
        default: return target
        }
    }
}

/// A value of a view that moves to the value that was set.
struct AnimatedMove {
    /// The value that was shown when the animation began.
    let start: AnimatedValue
    let group: AnimationGroup
}

/// The values that a view shows while they move; the view's properties have their new values already.
struct ShownValues {
    var frame: Rect?
    var contentOrigin: Point?
    var alpha: Double?
    var backgroundColor: Color?

    subscript(property: AnimatedValue.Property) -> AnimatedValue? {
        switch property {
        case .frame: frame.map(AnimatedValue.frame)
        case .contentOrigin: contentOrigin.map(AnimatedValue.contentOrigin)
        case .alpha: alpha.map(AnimatedValue.alpha)
        case .backgroundColor: backgroundColor.map(AnimatedValue.backgroundColor)
        }
    }

    mutating func show(_ value: AnimatedValue) {
        switch value {
        case .frame(let shown): frame = shown
        case .contentOrigin(let shown): contentOrigin = shown
        case .alpha(let shown): alpha = shown
        case .backgroundColor(let shown): backgroundColor = shown
        }
    }

    mutating func clear(_ property: AnimatedValue.Property) {
        switch property {
        case .frame: frame = nil
        case .contentOrigin: contentOrigin = nil
        case .alpha: alpha = nil
        case .backgroundColor: backgroundColor = nil
        }
    }
}
