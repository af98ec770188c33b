// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

/// The items that were added to the common modes, in the order in which they were added.
///
/// Guarded by the loop's lock.
struct CommonItems {
    private var entries: [ObjectIdentifier: (number: Int, item: RunLoop.Item)] = [:]
    private var added = 0

    /// In the order in which they were added.
    var all: [RunLoop.Item] { entries.values.sorted { $0.number < $1.number }.map(\.item) }

    // Not the dictionary's own `isEmpty`, for which every timer that goes would count a reference.
    private(set) var isEmpty = true

    func contains(_ item: RunLoop.Item) -> Bool { entries[ObjectIdentifier(item)] != nil }

    /// Adds an item; returns whether it is new here.
    mutating func insert(_ item: RunLoop.Item) -> Bool {
        if contains(item) { return false }
        added += 1
        entries[ObjectIdentifier(item)] = (added, item)
        isEmpty = false
        return true
    }

    /// Removes an item; returns whether it was there.
    mutating func remove(_ item: RunLoop.Item) -> Bool {
        if isEmpty { return false }
        let wasThere = entries.removeValue(forKey: ObjectIdentifier(item)) != nil
        isEmpty = entries.isEmpty
        return wasThere
    }
}
