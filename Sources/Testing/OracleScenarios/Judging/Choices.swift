// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

internal import RunLoops

/// The kinds of items that a loop calls first in one run of a scenario, one choice for each time that several kinds are
/// ready.
package final class Choices: Sendable {
    /// The choices that were made: each is an index into the ready kinds, which are in the order in which they became
    /// ready.
    private struct Made {
        var indexes: [Int] = []
        var counts: [Int] = []
    }

    private let planned: [Int]
    private let made = Guarded(Made())

    /// Makes the choices of a run: first the planned choices; after them, the kind that has been ready longest is
    /// chosen.
    package init(_ planned: [Int] = []) { self.planned = planned }

    /// Makes the next choice among `count` kinds, and returns its index.
    package func choose(_ count: Int) -> Int {
        made.withLock { made in
            let step = made.indexes.count
            let index = step < planned.count ? min(planned[step], count - 1) : 0
            made.indexes.append(index)
            made.counts.append(count)
            return index
        }
    }

    /// The plans that repeat the choices that were made up to a choice after the planned ones, and then make this one
    /// differently.
    package var alternatives: [[Int]] {
        made.withLock { made in
            made.counts.indices.dropFirst(planned.count).flatMap { step in
                (1..<made.counts[step]).map { made.indexes[..<step] + [$0] }
            }
        }
    }
}
