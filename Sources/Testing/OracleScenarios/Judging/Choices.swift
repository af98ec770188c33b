// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

internal import RunLoops

/// What a loop serves first in one run of a scenario, each time that it finds several kinds of items ready.
package final class Choices: Sendable {
    /// The choices that were made: an index among the kinds, in the order in which they became ready.
    private struct Made {
        var indexes: [Int] = []
        var counts: [Int] = []
    }

    private let planned: [Int]
    private let made = Guarded(Made())

    /// Chooses these first, and afterwards what has been ready longest.
    package init(_ planned: [Int] = []) { self.planned = planned }

    /// The next choice among `count` kinds.
    package func choose(_ count: Int) -> Int {
        made.withLock { made in
            let step = made.indexes.count
            let index = step < planned.count ? min(planned[step], count - 1) : 0
            made.indexes.append(index)
            made.counts.append(count)
            return index
        }
    }

    /// The plans that differ from the choices made in one later choice.
    package var alternatives: [[Int]] {
        made.withLock { made in
            made.counts.indices.dropFirst(planned.count).flatMap { step in
                (1..<made.counts[step]).map { made.indexes[..<step] + [$0] }
            }
        }
    }
}
