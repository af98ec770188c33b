// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

/// The methods that a scroll view calls when its content moves; each does nothing unless implemented.
@MainActor public protocol ScrollViewDelegate: AnyObject {
    /// Called when the content has moved, for whatever reason.
    func scrollViewDidScroll(_ scrollView: ScrollView)
    /// Called when a finger begins to move the content.
    func scrollViewWillBeginDragging(_ scrollView: ScrollView)
    /// Called when the finger is about to leave the content.
    ///
    /// - Parameters:
    ///   - scrollView: The scroll view.
    ///   - velocity: How fast the content offset changes, in points per millisecond.
    ///   - target: The content offset at which the content will come to rest, within the content and in whole points. The
    ///     delegate may change it, for example so that a row or a page ends at the edge; the value that it sets is limited
    ///     to the content.
    func scrollViewWillEndDragging(_ scrollView: ScrollView, velocity: Point, target: inout Point)
    /// Called when the finger has left the content, or when the drag was cancelled.
    ///
    /// - Parameters:
    ///   - scrollView: The scroll view.
    ///   - willDecelerate: Whether the content continues to move after the finger has left it.
    func scrollViewDidEndDragging(_ scrollView: ScrollView, willDecelerate: Bool)
    /// Called when the content begins to decelerate after a drag.
    func scrollViewWillBeginDecelerating(_ scrollView: ScrollView)
    /// Called when the content has come to rest after a deceleration, or when the deceleration was stopped.
    func scrollViewDidEndDecelerating(_ scrollView: ScrollView)
    /// Called when an animated movement that the program has started has ended, or was stopped.
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
