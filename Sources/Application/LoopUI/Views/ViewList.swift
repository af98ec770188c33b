// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

/// A number of a view, which a list uses to find the view; a view has one number for each kind of list.
@MainActor protocol ViewNumber {
    /// Returns the number of a view.
    static func number(of view: View) -> Int
    /// Sets the number of a view.
    static func set(_ number: Int, of view: View)
}

/// An ordered list of views from which a view is removed in constant time.
///
/// A removed view leaves an empty place, so that the other views keep their numbers. Empty places are closed when they
/// are so many that closing them costs no more than the removals did, or when all views are read.
@MainActor struct ViewList<Number: ViewNumber> {
    /// The views, if no place is empty; else empty.
    private var views: [View] = []
    /// The views and the empty places, if there are empty places; else empty.
    private var places: [View?] = []
    private var isSparse = false
    /// Whether each view's number is its index.
    private var isNumbered = true
    /// Whether all views were read since the last change.
    private var wasRead = false
    /// The number of views.
    private(set) var count = 0

    nonisolated init() {}

    /// Returns the views in order.
    ///
    /// - Complexity: O(1); O(views) after a removal.
    mutating func all() -> [View] {
        closePlaces()
        wasRead = true
        return views
    }

    /// Inserts a view at an index; an index beyond the end counts as the end.
    ///
    /// - Complexity: O(1) at the end, else O(views).
    mutating func insert(_ view: View, at index: Int) {
        defer { wasRead = false }
        count += 1
        if index < count - 1 {
            closePlaces()
            views.insert(view, at: max(0, index))
            isNumbered = false
        } else if isSparse {
            Number.set(places.count, of: view)
            places.append(view)
        } else {
            Number.set(views.count, of: view)
            views.append(view)
        }
    }

    /// Removes a view from the list.
    ///
    /// - Complexity: O(1), amortised. If all views are read after each removal, O(views) for the copy of the array.
    mutating func remove(_ view: View) {
        defer { wasRead = false }
        count -= 1
        if !isSparse {
            if views.last === view {
                views.removeLast()
                return
            }
            if wasRead {
                // Whoever reads between removals makes an array of each state: moving its end up is the quickest way.
                views.remove(at: index(of: view))
                isNumbered = false
                return
            }
            openPlaces()
        }
        var number = Number.number(of: view)
        // The number is another list's, where the view is in two lists.
        if !places.indices.contains(number) || places[number] !== view {
            guard let found = places.firstIndex(where: { $0 === view }) else { Self.isMissing() }
            number = found
        }
        places[number] = nil
        while let last = places.last, last == nil { places.removeLast() }
        if places.count > 2 * count { closePlaces() }
    }

    private func index(of view: View) -> Int {
        // Removals have moved it down by a little, or all of them were at the beginning.
        let number = min(Number.number(of: view), views.count - 1)
        for index in stride(from: number, through: max(0, number - 8), by: -1) where views[index] === view {
            return index
        }
        guard let index = views.firstIndex(where: { $0 === view }) else { Self.isMissing() }
        return index
    }

    private static func isMissing() -> Never {
        preconditionFailure("A view was taken out of a list that it is not in.")
    }

    private mutating func openPlaces() {
        if !isNumbered {
            for (index, view) in views.enumerated() { Number.set(index, of: view) }
            isNumbered = true
        }
        places = views
        views = []
        isSparse = true
    }

    private mutating func closePlaces() {
        guard isSparse else { return }
        views = places.compactMap(\.self)
        places = []
        isSparse = false
        isNumbered = false
    }
}
