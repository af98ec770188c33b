// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

/// A place, in points from the upper left corner; a point is a cell in a terminal.
public struct Point: Hashable, Sendable {
    /// The distance to the right, in points.
    public var x: Double
    /// The distance down, in points.
    public var y: Double

    /// The upper left corner.
    public static var zero: Point { Point(0, 0) }

    /// Makes the point at `x` and `y`.
    public init(_ x: Double, _ y: Double) {
        self.x = x
        self.y = y
    }

    /// Makes the point at `x` and `y`, with the argument labels of `CGPoint`.
    public init(x: Double, y: Double) { self.init(x, y) }

    /// Returns the distance to another point, in points.
    public func distance(to other: Point) -> Double {
        let (width, height) = (other.x - x, other.y - y)
        return (width * width + height * height).squareRoot()
    }

    /// Returns the point, moved by `offset`.
    public static func + (point: Point, offset: Point) -> Point { Point(point.x + offset.x, point.y + offset.y) }

    /// Returns the offset from `start` to `point`.
    public static func - (point: Point, start: Point) -> Point { Point(point.x - start.x, point.y - start.y) }
}

/// A width and a height, in points.
public struct Size: Hashable, Sendable {
    /// The width, in points.
    public var width: Double
    /// The height, in points.
    public var height: Double

    /// The size of 0 by 0 points.
    public static var zero: Size { Size(0, 0) }

    /// Makes the size of `width` and `height`.
    public init(_ width: Double, _ height: Double) {
        self.width = width
        self.height = height
    }

    /// Makes the size of `width` and `height`, with the argument labels of `CGSize`.
    public init(width: Double, height: Double) { self.init(width, height) }
}

/// Distances from the edges of a rectangle inwards, in points.
public struct Insets: Hashable, Sendable {
    /// The distance from the upper edge, in points.
    public var top: Double
    /// The distance from the left edge, in points.
    public var left: Double
    /// The distance from the lower edge, in points.
    public var bottom: Double
    /// The distance from the right edge, in points.
    public var right: Double

    /// The distance 0 on every side.
    public static var zero: Insets { Insets() }

    /// Makes insets of the given distances; the others are 0.
    public init(top: Double = 0, left: Double = 0, bottom: Double = 0, right: Double = 0) {
        self.top = top
        self.left = left
        self.bottom = bottom
        self.right = right
    }

    /// Makes insets with the same distance on every side.
    public init(all distance: Double) {
        self.init(top: distance, left: distance, bottom: distance, right: distance)
    }
}

/// A rectangle, in points.
public struct Rect: Hashable, Sendable {
    /// The upper left corner.
    public var origin: Point
    /// Width and height; never negative.
    public var size: Size

    /// The rectangle without a size, at the upper left corner.
    public static var zero: Rect { Rect(0, 0, 0, 0) }

    /// Makes the rectangle with its upper left corner at `x` and `y`; a negative size becomes 0.
    public init(_ x: Double, _ y: Double, _ width: Double, _ height: Double) {
        origin = Point(x, y)
        size = Size(max(0, width), max(0, height))
    }

    /// Makes the rectangle with its upper left corner at `x` and `y`, with the argument labels of `CGRect`; a negative
    /// size becomes 0.
    public init(x: Double, y: Double, width: Double, height: Double) { self.init(x, y, width, height) }

    /// Makes the rectangle with an upper left corner and a size; a negative size becomes 0.
    public init(origin: Point = .zero, size: Size) { self.init(origin.x, origin.y, size.width, size.height) }

    /// The x coordinate of the left edge.
    public var minX: Double { origin.x }
    /// The y coordinate of the upper edge.
    public var minY: Double { origin.y }
    /// The x coordinate of the right edge, which is not inside the rectangle.
    public var maxX: Double { origin.x + size.width }
    /// The y coordinate of the lower edge, which is not inside the rectangle.
    public var maxY: Double { origin.y + size.height }
    /// The width, in points.
    public var width: Double { size.width }
    /// The height, in points.
    public var height: Double { size.height }
    /// The point in the middle of the rectangle.
    public var center: Point { Point(minX + width / 2, minY + height / 2) }
    /// Whether the rectangle has no area.
    public var isEmpty: Bool { size.width <= 0 || size.height <= 0 }

    /// Whether the point is inside; the right and the lower edge are not.
    public func contains(_ point: Point) -> Bool {
        point.x >= minX && point.x < maxX && point.y >= minY && point.y < maxY
    }

    /// Returns the rectangle that both rectangles cover; empty if they do not overlap.
    public func intersection(_ other: Rect) -> Rect {
        let (left, top) = (max(minX, other.minX), max(minY, other.minY))
        return Rect(left, top, min(maxX, other.maxX) - left, min(maxY, other.maxY) - top)
    }

    /// Returns the smallest rectangle that covers both rectangles; an empty rectangle covers nothing.
    public func union(_ other: Rect) -> Rect {
        if isEmpty { return other }
        if other.isEmpty { return self }
        let (left, top) = (min(minX, other.minX), min(minY, other.minY))
        return Rect(left, top, max(maxX, other.maxX) - left, max(maxY, other.maxY) - top)
    }

    /// Returns the rectangle, made smaller by the insets; negative insets make it larger.
    public func inset(by insets: Insets) -> Rect {
        Rect(
            minX + insets.left, minY + insets.top, width - insets.left - insets.right,
            height - insets.top - insets.bottom)
    }

    /// Returns the rectangle, moved by `offset`.
    public func moved(by offset: Point) -> Rect { Rect(origin: origin + offset, size: size) }
}

// MARK: - Numbers of any kind

extension Double {
    /// The number, cut at a thousand million points on both sides of 0; 0 for NaN.
    ///
    /// Lengths that the program gives may be anything, and their sums have to stay numbers.
    var length: Double { isNaN ? 0 : Swift.min(1e9, Swift.max(-1e9, self)) }

    /// The whole part of a length.
    var wholeCells: Int { Int(length) }
}

extension Size {
    /// The size with both lengths limited as by ``Double/length``, and not negative.
    var limited: Size { Size(Swift.max(0, width.length), Swift.max(0, height.length)) }
}

extension Insets {
    /// The insets with all distances limited as by ``Double/length``.
    var limited: Insets { Insets(top: top.length, left: left.length, bottom: bottom.length, right: right.length) }
}
