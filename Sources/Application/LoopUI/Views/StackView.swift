// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

/// A view that lays out other views side by side, or one below the other.
///
/// Each view gets the size that it wants along the axis. The room that is left is shared by the views that flex. If
/// there is too little room, the spacing and the views that flex shrink first, then the last views. Hidden views take
/// no room.
@MainActor open class StackView: View {
    /// The direction in which views follow each other.
    public enum Axis: Hashable, Sendable {
        /// From left to right.
        case horizontal
        /// From top to bottom.
        case vertical
    }

    /// The position of views across the axis.
    public enum Alignment: Hashable, Sendable {
        /// Views fill all the room across the axis.
        case fill
        /// Views are at the left or upper edge.
        case leading
        /// Views are in the middle.
        case center
        /// Views are at the right or lower edge.
        case trailing
    }

    /// How the room along the axis is shared.
    public enum Distribution: Hashable, Sendable {
        /// Each view gets the length that it wants, and the views that flex share the room that is left.
        case fill
        /// All views get the same length.
        case fillEqually
    }

    /// The direction in which views follow each other.
    public var axis: Axis { didSet { if axis != oldValue { changed() } } }
    /// The distance between two views, in points; views overlap if it is negative.
    public var spacing: Double { didSet { if spacing != oldValue { changed() } } }
    /// The position of views across the axis.
    public var alignment = Alignment.fill { didSet { if alignment != oldValue { changed() } } }
    /// How the room along the axis is shared.
    public var distribution = Distribution.fill { didSet { if distribution != oldValue { changed() } } }
    /// The distances between the edges and the views, in points.
    public var padding = Insets.zero { didSet { if padding != oldValue { changed() } } }

    /// The views, in order.
    public var arrangedSubviews: [View] { arranged.all() }
    private var arranged = ViewList<ArrangedNumber>()
    /// The views of the list, with their weights in sharing the room that is left.
    private var flexes: [ObjectIdentifier: Double] = [:]

    /// Makes a stack of these views.
    public init(_ axis: Axis = .vertical, spacing: Double = 0, _ views: [View] = []) {
        self.axis = axis
        self.spacing = spacing
        super.init()
        for view in views { addArrangedSubview(view) }
    }

    // MARK: Views

    /// Adds a view at the end.
    ///
    /// - Parameters:
    ///   - view: The view.
    ///   - flex: The view's weight when the room that is left is shared among the views; 0 for no part of the room.
    public func addArrangedSubview(_ view: View, flex: Double = 0) {
        insertArrangedSubview(view, at: arranged.count, flex: flex)
    }

    /// Inserts a view among the others.
    ///
    /// - Parameters:
    ///   - view: The view.
    ///   - index: The view's index, 0 for the first; an index beyond the end counts as the end.
    ///   - flex: The view's weight when the room that is left is shared among the views; 0 for no part of the room.
    public func insertArrangedSubview(_ view: View, at index: Int, flex: Double = 0) {
        // The program is called last: the view may move on in its calls.
        forget(view)
        arranged.insert(view, at: index)
        flexes[ObjectIdentifier(view)] = min(1e9, max(0, flex))
        if view.superview !== self { addSubview(view) }
        changed()
    }

    /// Removes a view from the arranged subviews; it stays a subview until it is removed from this superview too, as in
    /// UIKit.
    ///
    /// - Complexity: O(1), amortised.
    public func removeArrangedSubview(_ view: View) {
        forget(view)
        changed()
    }

    private func forget(_ view: View) {
        if flexes.removeValue(forKey: ObjectIdentifier(view)) != nil { arranged.remove(view) }
    }

    /// Returns a view's weight when the room that is left is shared among the views; 0 if the view is not arranged.
    public func flex(of view: View) -> Double { flexes[ObjectIdentifier(view)] ?? 0 }

    /// Sets a view's weight when the room that is left is shared among the views.
    ///
    /// Has no effect if the view is not arranged. A number below 0 counts as 0.
    public func setFlex(_ flex: Double, for view: View) {
        guard flexes[ObjectIdentifier(view)] != nil else { return }
        flexes[ObjectIdentifier(view)] = min(1e9, max(0, flex))
        changed()
    }

    private func changed() {
        setNeedsLayout()
        invalidateIntrinsicContentSize()
    }

    /// The views that take room: shown, and still inside.
    private var present: [View] { arrangedSubviews.filter { !$0.isHidden && $0.superview === self } }

    // MARK: Layout

    /// Returns the size that the views want in the available room: along the axis the sum of their lengths, across it
    /// the largest.
    ///
    /// - Complexity: O(views inside).
    open override func sizeThatFits(_ size: Size) -> Size {
        let padding = padding.limited
        let inner = Size(
            max(0, size.width - padding.left - padding.right), max(0, size.height - padding.top - padding.bottom))
        let sizes = present.map { $0.sizeThatFits(inner) }
        var (along, across) = (Double(max(0, sizes.count - 1)) * spacing.length, 0.0)
        let longest = sizes.map { self.along($0) }.max() ?? 0
        for size in sizes {
            along += distribution == .fillEqually ? longest : self.along(size)
            across = max(across, self.across(size))
        }
        let wanted = axis == .horizontal ? Size(along, across) : Size(across, along)
        return Size(
            min(size.width, wanted.width + padding.left + padding.right),
            min(size.height, wanted.height + padding.top + padding.bottom))
    }

    open override func layoutSubviews() {
        for view in arrangedSubviews where view.superview !== self { forget(view) }
        let area = Rect(size: frame.size.limited).inset(by: padding.limited)
        let views = present
        if views.isEmpty { return }
        var wanted = views.map { max(0, along($0.sizeThatFits(area.size)).length) }
        // A view that flexes begins with nothing: equal weights give equal lengths.
        for (index, view) in views.enumerated() where flex(of: view) > 0 { wanted[index] = 0 }
        let gaps = Double(views.count - 1)
        let gap = min(spacing.length, max(0, ((along(area.size) - wanted.reduce(0, +)) / max(1, gaps)).rounded(.down)))
        var place = axis == .horizontal ? area.minX : area.minY
        for (view, length) in zip(views, lengths(wanted, of: views, room: along(area.size) - gaps * gap)) {
            // A view that was asked for its size may have moved another one.
            guard view.superview === self else { continue }
            view.frame = frame(of: view, from: place, length: length, in: area)
            place += length + gap
        }
    }

    private func frame(of view: View, from place: Double, length: Double, in area: Rect) -> Rect {
        let all = across(area.size)
        var (start, width) = (0.0, all)
        if alignment != .fill {
            width = min(all, across(view.sizeThatFits(axis == .horizontal ? Size(length, all) : Size(all, length))))
            switch alignment {
            case .fill, .leading: break
            case .center: start = ((all - width) / 2).rounded(.down)
            case .trailing: start = all - width
            }
        }
        return axis == .horizontal
            ? Rect(place, area.minY + start, length, width) : Rect(area.minX + start, place, width, length)
    }

    /// Returns the length of each view in whole points, since a terminal has no fractions of points.
    private func lengths(_ wanted: [Double], of views: [View], room: Double) -> [Double] {
        if distribution == .fillEqually { return Self.share(room, by: views.map { _ in 1 }) }
        var lengths = wanted
        let weights = views.map { flex(of: $0) }
        if weights.contains(where: { $0 > 0 }) {
            let left = max(0, room - lengths.reduce(0, +))
            for (index, part) in Self.share(left, by: weights).enumerated() { lengths[index] += part }
        }
        // What is too much is taken from the end.
        var left = room
        for index in lengths.indices {
            lengths[index] = min(lengths[index], left)
            left -= lengths[index]
        }
        return lengths
    }

    /// Divides a length by weights into whole numbers whose sum is the length.
    private static func share(_ room: Double, by weights: [Double]) -> [Double] {
        let all = weights.reduce(0, +)
        var (sum, begin) = (0.0, 0.0)
        return weights.map { weight in
            sum += weight
            let end = (room * sum / all).rounded()
            defer { begin = end }
            return end - begin
        }
    }

    private func along(_ size: Size) -> Double { axis == .horizontal ? size.width : size.height }
    private func across(_ size: Size) -> Double { axis == .horizontal ? size.height : size.width }
}

extension View {
    /// Asks the stack views around the view for a new layout, because ``sizeThatFits(_:)`` now returns another size.
    ///
    /// - Complexity: O(stacks around the view).
    public func invalidateIntrinsicContentSize() {
        var view = superview
        while let present = view {
            present.setNeedsLayout()
            view = present is StackView ? present.superview : nil
        }
    }
}

/// The numbers of arranged subviews.
private enum ArrangedNumber: ViewNumber {
    static func number(of view: View) -> Int { view.arrangedNumber }
    static func set(_ number: Int, of view: View) { view.arrangedNumber = number }
}
