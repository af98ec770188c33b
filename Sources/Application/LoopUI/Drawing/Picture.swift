// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

internal import RunLoops
internal import Synchronization

/// A picture: rows of pixels, each of red, green, blue and opacity.
///
/// Copies of a picture are compared in constant time, other pictures pixel by pixel.
public struct Picture: Hashable, Sendable {
    /// The width, in pixels.
    public let width: Int
    /// The height, in pixels.
    public let height: Int
    /// Four bytes a pixel, row after row from the top: red, green, blue, opacity.
    ///
    /// The colours are not multiplied with the opacity.
    public let bytes: [UInt8]
    /// The number of the picture, which only its copies share.
    package let number: UInt64

    private static let count = Atomic<UInt64>(0)

    /// Makes a picture of these bytes.
    ///
    /// - Precondition: there are four bytes for each pixel, and no side is negative.
    public init(width: Int, height: Int, bytes: [UInt8]) {
        require(
            Self.bytes(width, height) == bytes.count,
            "A picture of \(width) by \(height) pixels has four bytes a pixel, not \(bytes.count) in all: give as many."
        )
        self.width = width
        self.height = height
        self.bytes = bytes
        number = Self.count.add(1, ordering: .relaxed).newValue
    }

    /// Returns the number of bytes of a picture; nil if a side is negative, or the number is too large for an `Int`.
    private static func bytes(_ width: Int, _ height: Int) -> Int? {
        if width < 0 || height < 0 { return nil }
        let (pixels, hasTooManyPixels) = width.multipliedReportingOverflow(by: height)
        let (bytes, hasTooManyBytes) = pixels.multipliedReportingOverflow(by: 4)
        return hasTooManyPixels || hasTooManyBytes ? nil : bytes
    }

    /// Whether two pictures have the same pixels.
    ///
    /// - Complexity: O(1) for copies, else O(pixels).
    public static func == (left: Picture, right: Picture) -> Bool {
        left.number == right.number
            || left.width == right.width && left.height == right.height && left.bytes == right.bytes
    }

    /// Hashes the pixels.
    ///
    /// - Complexity: O(pixels).
    public func hash(into hasher: inout Hasher) {
        hasher.combine(width)
        hasher.combine(bytes)
    }

    /// The size in points at which pixels keep their shape: a cell is about twice as high as wide.
    public var size: Size { Size(Double(width), Double(height) / 2) }

    /// Returns the picture with another number of pixels, each the average of the area that it covers.
    ///
    /// A loader calls this on its own thread, so that little is left to be done when the picture is drawn.
    ///
    /// - Precondition: no side is negative, and there is memory for the pixels.
    /// - Complexity: O(pixels of both).
    public func scaled(width: Int, height: Int) -> Picture {
        if width == self.width, height == self.height { return self }
        guard let count = Self.bytes(width, height) else {
            preconditionFailure(
                "A picture cannot have \(width) by \(height) pixels: give sides that are not negative, and smaller.")
        }
        let scaler = PictureScaler(self, columns: width, rows: height)
        var bytes: [UInt8] = []
        bytes.reserveCapacity(count)
        for y in 0..<height {
            for pixel in scaler.row(y, 0..<width) { bytes += [pixel.red, pixel.green, pixel.blue, pixel.opacity] }
        }
        return Picture(width: width, height: height, bytes: bytes)
    }
}

/// One pixel of a picture.
struct Pixel: Hashable {
    var red: UInt8
    var green: UInt8
    var blue: UInt8
    var opacity: UInt8

    var color: Color { .rgb(red, green, blue) }
    var isSeen: Bool { opacity >= 128 }
    /// The brightness of the pixel, from 0 to 1, by the weights of ITU-R BT.601.
    var brightness: Double { (0.299 * Double(red) + 0.587 * Double(green) + 0.114 * Double(blue)) / 255 }
}

/// Averages the pixels of a picture over the fields of a coarser or finer grid.
struct PictureScaler {
    private let picture: Picture
    private let columns: Int
    private let rows: Int

    init(_ picture: Picture, columns: Int, rows: Int) {
        require(columns >= 0 && rows >= 0, "A picture cannot have \(columns) by \(rows) pixels.")
        self.picture = picture
        self.columns = columns
        self.rows = rows
    }

    /// Returns the averages of a row of fields, for some of its columns.
    ///
    /// - Complexity: O(columns + pixels that they cover).
    func row(_ y: Int, _ fields: Range<Int>) -> [Pixel] {
        let down = Self.shares(of: y, in: rows, of: picture.height)
        return fields.map { average(Self.shares(of: $0, in: columns, of: picture.width), down) }
    }

    /// Returns the pixels that a field covers in one direction, with the part of each that is covered.
    private static func shares(of field: Int, in fields: Int, of pixels: Int) -> (first: Int, parts: [Double]) {
        let scale = Double(pixels) / Double(fields)
        let (start, end) = (Double(field) * scale, Double(field + 1) * scale)
        let first = min(Int(start), pixels)
        let last = min(max(first, Int(end.rounded(.up))), pixels)
        return (first, (first..<last).map { min(end, Double($0 + 1)) - max(start, Double($0)) })
    }

    /// Returns the average of pixels, with colours weighted by opacity, so that invisible pixels add no colour.
    private func average(
        _ across: (first: Int, parts: [Double]), _ down: (first: Int, parts: [Double])
    ) -> Pixel {
        var (red, green, blue, opacity, area) = (0.0, 0.0, 0.0, 0.0, 0.0)
        for (y, height) in down.parts.enumerated() {
            var index = ((down.first + y) * picture.width + across.first) * 4
            for width in across.parts {
                let part = width * height
                let seen = part * Double(picture.bytes[index + 3])
                red += seen * Double(picture.bytes[index])
                green += seen * Double(picture.bytes[index + 1])
                blue += seen * Double(picture.bytes[index + 2])
                opacity += seen
                area += part
                index += 4
            }
        }
        guard opacity > 0, area > 0 else { return Pixel(red: 0, green: 0, blue: 0, opacity: 0) }
        func byte(_ value: Double) -> UInt8 { UInt8(max(0, min(255, value.rounded()))) }
        return Pixel(
            red: byte(red / opacity), green: byte(green / opacity), blue: byte(blue / opacity),
            opacity: byte(opacity / area))
    }
}
