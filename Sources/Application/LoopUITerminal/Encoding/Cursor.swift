// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

/// Sequences that move the cursor.
enum Cursor {
    typealias Place = (x: Int, y: Int)

    /// Appends the shortest sequence that moves the cursor.
    static func move(from old: Place?, to new: Place, into bytes: inout [UInt8]) {
        if let old, old == new { return }
        switch way(from: old, to: new) {
        case .absolute:
            sequence(
                new.y == 0 && new.x == 0 ? 0 : new.y + 1, new.x == 0 ? 0 : new.x + 1, UInt8(ascii: "H"), into: &bytes)
        case .right(let count): sequence(count == 1 ? 0 : count, 0, UInt8(ascii: "C"), into: &bytes)
        case .left(let count): for _ in 0..<count { bytes.append(0x08) }
        case .down(let count, let isAtStart):
            if isAtStart { bytes.append(0x0D) }
            for _ in 0..<count { bytes.append(0x0A) }
        case .row: sequence(new.y + 1, 0, UInt8(ascii: "d"), into: &bytes)
        case .start: bytes.append(0x0D)
        }
    }

    /// Returns the number of bytes of the shortest sequence that moves the cursor.
    static func bytes(from old: Place?, to new: Place) -> Int {
        if let old, old == new { return 0 }
        return switch way(from: old, to: new) {
        case .absolute: new.x == 0 && new.y == 0 ? 3 : 3 + digits(new.y + 1) + (new.x == 0 ? 0 : 1 + digits(new.x + 1))
        case .right(let count): count == 1 ? 3 : 3 + digits(count)
        case .left(let count): count
        case .down(let count, let isAtStart): count + (isAtStart ? 1 : 0)
        case .row: 3 + digits(new.y + 1)
        case .start: 1
        }
    }

    /// Appends a sequence that moves the cursor to a column, and by rows from the row in which it is.
    ///
    /// A line feed makes room where the screen ends, which may be shorter by now than the program knows. A move down would end
    /// there, and the next one up would come too far.
    ///
    /// - Parameters:
    ///   - old: The position of the cursor; `nil` if the column is not certain.
    ///   - row: The row of the cursor.
    ///   - new: The position to move to.
    ///   - bytes: The bytes to append to.
    static func step(from old: Place?, row: Int, to new: Place, into bytes: inout [UInt8]) {
        if new.y < row { up(row - new.y, into: &bytes) }
        for _ in row..<max(row, new.y) { bytes.append(0x0A) }
        if old?.x == new.x { return }
        if new.x == 0 { bytes.append(0x0D) } else { sequence(new.x + 1, 0, UInt8(ascii: "G"), into: &bytes) }
    }

    /// Appends a sequence that moves the cursor up.
    static func up(_ rows: Int, into bytes: inout [UInt8]) {
        if rows > 0 { sequence(rows == 1 ? 0 : rows, 0, UInt8(ascii: "A"), into: &bytes) }
    }

    private enum Way {
        case absolute
        case right(Int)
        case left(Int)
        /// Line feeds, which keep the column, after a return to the first column if `isAtStart` is true.
        case down(Int, isAtStart: Bool)
        case row
        case start
    }

    private static func way(from old: Place?, to new: Place) -> Way {
        guard let old else { return .absolute }
        let (right, down) = (new.x - old.x, new.y - old.y)
        if down == 0 {
            if new.x == 0 { return .start }
            return right > 0 ? .right(right) : -right <= 3 ? .left(-right) : .absolute
        }
        if (1...3).contains(down), right == 0 || new.x == 0 { return .down(down, isAtStart: right != 0) }
        return right == 0 && new.x > 0 ? .row : .absolute
    }

    private static func digits(_ value: Int) -> Int { value < 10 ? 1 : value < 100 ? 2 : value < 1000 ? 3 : 5 }

    /// Appends a control sequence of up to two parameters; a parameter that is 0 is left out.
    private static func sequence(_ first: Int, _ second: Int, _ final: UInt8, into bytes: inout [UInt8]) {
        bytes.append(0x1B)
        bytes.append(0x5B)
        if first > 0 { number(first, into: &bytes) }
        if second > 0 {
            bytes.append(0x3B)
            number(second, into: &bytes)
        }
        bytes.append(final)
    }

    static func number(_ value: Int, into bytes: inout [UInt8]) {
        if value >= 10 { number(value / 10, into: &bytes) }
        bytes.append(UInt8(0x30 + value % 10))
    }
}
