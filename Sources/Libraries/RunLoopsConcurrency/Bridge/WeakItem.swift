// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

package import RunLoops

/// An item that only its loop keeps, for code that may want to take the item out.
// Unchecked: the reference is written by init alone, and reading a weak one is atomic.
package final class WeakItem: @unchecked Sendable {
    package private(set) weak var item: RunLoop.Item?

    package init(_ item: RunLoop.Item) { self.item = item }
}
