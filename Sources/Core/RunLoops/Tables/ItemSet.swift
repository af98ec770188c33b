// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

/// The items of one kind in one mode, or the common items, in the order in which they were added.
///
struct ItemSet<Item: AnyObject> {
    private var entries: [ObjectIdentifier: (number: Int, item: Item)] = [:]
    private var added = 0

    /// The items in the order in which they were added.
    var all: [Item] { sorted { _ in 0 } }

    /// Returns the items by ascending order, and items of equal order in the order in which they were added.
    func sorted(by order: (Item) -> Int) -> [Item] {
        entries.values.sorted { (order($0.item), $0.number) < (order($1.item), $1.number) }.map(\.item)
    }

    // Stored, because the dictionary's `isEmpty` would do reference counting for each timer that is removed.
    private(set) var isEmpty = true

    func contains(_ item: Item) -> Bool { entries[ObjectIdentifier(item)] != nil }

    /// Adds an item.
    ///
    /// - Precondition: the set does not contain the item.
    mutating func add(_ item: Item) {
        added += 1
        entries[ObjectIdentifier(item)] = (added, item)
        isEmpty = false
    }

    /// Removes an item; returns whether it was there.
    mutating func remove(_ item: Item) -> Bool {
        if isEmpty { return false }
        let wasThere = entries.removeValue(forKey: ObjectIdentifier(item)) != nil
        isEmpty = entries.isEmpty
        return wasThere
    }
}
