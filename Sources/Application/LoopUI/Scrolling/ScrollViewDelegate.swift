// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

/// Hears what a scroll view does; every requirement does nothing unless implemented.
@MainActor public protocol ScrollViewDelegate: AnyObject {
    /// The content has moved, whatever has moved it.
    func scrollViewDidScroll(_ scrollView: ScrollView)
    /// A finger begins to move the content.
    func scrollViewWillBeginDragging(_ scrollView: ScrollView)
    /// The finger is about to leave the content.
    ///
    /// - Parameters:
    ///   - scrollView: The scroll view.
    ///   - velocity: How fast the content offset changes, in points per millisecond.
    ///   - target: Where the content offset would come to rest; a change moves that place, so that rows or pages can
    ///     end at the edge.
    func scrollViewWillEndDragging(_ scrollView: ScrollView, velocity: Point, target: inout Point)
    /// The finger has left the content, or was taken away.
    ///
    /// - Parameters:
    ///   - scrollView: The scroll view.
    ///   - willDecelerate: Whether the content goes on by itself.
    func scrollViewDidEndDragging(_ scrollView: ScrollView, willDecelerate: Bool)
    /// The content begins to go on by itself.
    func scrollViewWillBeginDecelerating(_ scrollView: ScrollView)
    /// The content rests after it has gone on by itself: it came to an end, or was stopped.
    func scrollViewDidEndDecelerating(_ scrollView: ScrollView)
    /// A movement that the program has asked for has ended, or was stopped.
    func scrollViewDidEndScrollingAnimation(_ scrollView: ScrollView)
}

extension ScrollViewDelegate {
    /// Does nothing.
    public func scrollViewDidScroll(_ scrollView: ScrollView) {}
    /// Does nothing.
    public func scrollViewWillBeginDragging(_ scrollView: ScrollView) {}
    /// Does nothing.
    public func scrollViewWillEndDragging(_ scrollView: ScrollView, velocity: Point, target: inout Point) {}
    /// Does nothing.
    public func scrollViewDidEndDragging(_ scrollView: ScrollView, willDecelerate: Bool) {}
    /// Does nothing.
    public func scrollViewWillBeginDecelerating(_ scrollView: ScrollView) {}
    /// Does nothing.
    public func scrollViewDidEndDecelerating(_ scrollView: ScrollView) {}
    /// Does nothing.
    public func scrollViewDidEndScrollingAnimation(_ scrollView: ScrollView) {}
}
