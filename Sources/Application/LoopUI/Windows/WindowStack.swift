// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

/// The windows that are shown, in the order in which they cover each other.
@MainActor final class WindowStack {
    /// The windows, the frontmost last.
    private(set) var all: [Window] = []

    /// The window that keys come to.
    var key: Window? { all.last }

    /// The window that a touch at this point of the display hits.
    func window(at position: Point) -> Window? {
        all.last { $0.isSeen && $0.isUserInteractionEnabled && $0.frame.contains(position) }
    }

    /// Puts a window in front of the others; it may be new.
    func bringToFront(_ window: Window) {
        remove(window)
        all.append(window)
    }

    /// Takes a window out.
    func remove(_ window: Window) { all.removeAll { $0 === window } }
}
