// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import LoopUI
import RunLoops

/// A type of numbers, or of values made of numbers, and its ends.
protocol Ended {
    /// The first and the last, and those around 0.
    static var ends: [Self] { get }
}

extension Ended where Self: FixedWidthInteger {
    static var ends: [Self] { [.min, .max, 0, 1] + (isSigned ? [-1] : []) }
}

extension Int: Ended {}
extension Int32: Ended {}
extension Int64: Ended {}
extension UInt: Ended {}
extension UInt8: Ended {}
extension UInt16: Ended {}
extension UInt32: Ended {}
extension UInt64: Ended {}

extension Double: Ended {
    static var ends: [Double] {
        [-.infinity, -.greatestFiniteMagnitude, -1, 0, .leastNonzeroMagnitude, 0.5, 1e300, .infinity, .nan]
    }
}

extension Duration: Ended {
    static var ends: [Duration] {
        [
            .seconds(Int64.min), .nanoseconds(Int64.min), .seconds(-1), .zero,
            Duration(secondsComponent: 0, attosecondsComponent: 1),
            .nanoseconds(Int64.max), .seconds(Int64.max),
            Duration(secondsComponent: .max, attosecondsComponent: 999_999_999_999_999_999),
        ]
    }
}

extension Optional: Ended where Wrapped: Ended {
    static var ends: [Wrapped?] { Wrapped.ends + [nil] }
}

extension Point: Ended { static var ends: [Point] { Double.ends.flatMap { [Point($0, $0), Point($0, 1)] } } }

extension Size: Ended {
    static var ends: [Size] { Double.ends.map { Size($0, $0) } + [Size(.infinity, 1), Size(2, .infinity)] }
}

extension Rect: Ended {
    static var ends: [Rect] {
        Size.ends.map { Rect(size: $0) } + Double.ends.map { Rect($0, $0, 3, 1) }
            + [-.infinity, 1e300, .nan].map { Rect($0, $0, $0, $0) }
    }
}

extension Insets: Ended {
    static var ends: [Insets] { Double.ends.flatMap { [Insets(all: $0), Insets(top: $0, left: 1)] } }
}

extension Range: Ended where Bound == Int {
    static var ends: [Range<Int>] { [.min ..< .max, .min ..< .min, .max ..< .max, -1..<1, 0..<0, 0 ..< .max] }
}

extension CellRect: Ended {
    static var ends: [CellRect] {
        Range.ends.map { range in
            var rect = CellRect(x: 0, y: 0, width: 1, height: 1)
            (rect.columns, rect.rows) = (range, range)
            return rect
        }
    }
}

extension RunLoop.Instant: Ended {
    static var ends: [RunLoop.Instant] {
        Int64.ends.flatMap { number in RunLoop.ClockID.allCases.map { RunLoop.Instant(nanoseconds: number, clock: $0) }
        }
    }
}

/// What is done with the ends of the numbers of one initialiser or setter.
struct EndCase {
    /// Module and name, as the symbol graph has them.
    let name: String
    /// How many values are tried.
    let count: Int
    /// Tries one of them.
    let run: @MainActor (Int) throws -> Void

    /// A case that is tried with each end of a type.
    init<Value: Ended>(_ name: String, _ body: @escaping @MainActor (Value) throws -> Void) {
        self.name = name
        count = Value.ends.count
        run = { try body(Value.ends[$0]) }
    }
}
