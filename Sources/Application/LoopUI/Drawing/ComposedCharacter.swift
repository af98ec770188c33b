// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

/// A character of several scalars, and its number in cells.
///
/// Each grid keeps the characters that its cells show. So a number keeps its character while a cell has it, and memory
/// grows with what is shown, not with what was ever shown.
final class ComposedCharacter: Sendable {
    let number: UInt32
    let character: Character

    private init(_ number: UInt32, _ character: Character) {
        self.number = number
        self.character = character
    }

    deinit {
        Self.table.withLock { table in
            // Meanwhile the character may have got another number.
            if table.numbers[character] == number { table.numbers[character] = nil }
            table.objects[number] = nil
        }
    }

    /// How many characters are kept although no grid has them, so that a glyph can be made first and set later.
    static let recentCount = 1 << 16
    /// The number of different numbers, which begin at 0.
    private static let numberCount: UInt32 = 1 << 31

    private struct Weak {
        weak var object: ComposedCharacter?
    }

    private struct Table {
        var numbers: [Character: UInt32] = [:]
        /// The objects by their numbers.
        ///
        /// The reference is `nil` while an object ends and has not removed itself yet.
        var objects: [UInt32: Weak] = [:]
        /// The objects that were made last, in a ring.
        var recent: [ComposedCharacter] = []
        var oldest = 0
        var nextNumber: UInt32 = 0
    }

    private static let table = Mutex(Table())

    /// Returns the only object of a character; makes it if there is none.
    static func make(_ character: Character) -> ComposedCharacter {
        // What leaves the ring is released after the lock: its end takes the lock too.
        let (object, _) = table.withLock { table -> (ComposedCharacter, ComposedCharacter?) in
            if let number = table.numbers[character], let known = table.objects[number]?.object { return (known, nil) }
            while table.objects[table.nextNumber] != nil { table.nextNumber = (table.nextNumber + 1) % numberCount }
            let object = ComposedCharacter(table.nextNumber, character)
            table.nextNumber = (table.nextNumber + 1) % numberCount
            table.numbers[character] = object.number
            table.objects[object.number] = Weak(object: object)
            if table.recent.count < recentCount {
                table.recent.append(object)
                return (object, nil)
            }
            let old = table.recent[table.oldest]
            table.recent[table.oldest] = object
            table.oldest = (table.oldest + 1) % recentCount
            return (object, old)
        }
        return object
    }

    /// Returns the object of a number; `nil` if no grid has kept it.
    static func find(_ number: UInt32) -> ComposedCharacter? {
        table.withLock { $0.objects[number]?.object }
    }
}
