// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

/// The windows that are shown, in the order in which they cover each other.
@MainActor final class WindowStack {
    /// The windows, the frontmost last.
    private(set) var all: [Window] = []

    /// The window that receives keys: the frontmost; nil if there is none.
    var key: Window? { all.last }

    /// Returns the window that a touch at a point of the display hits; nil if there is none.
    func window(at position: Point) -> Window? {
        all.last { $0.isSeen && $0.isUserInteractionEnabled && $0.frame.contains(position) }
    }

    /// Brings a window in front of the others; adds it if it is not in the stack.
    func bringToFront(_ window: Window) {
        remove(window)
        all.append(window)
    }

    /// Removes a window.
    func remove(_ window: Window) { all.removeAll { $0 === window } }
}
