// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

/// Where a thread was most of the times it was looked at.
enum MajorityStack {
    /// The longest outer part that more than half of the stacks have in common, and how many have it.
    ///
    /// Each stack is a list of functions, innermost first, and so is the answer's part of `stacks[index]`: its last
    /// `depth` functions. A thread that calls many small functions from one place is found in that place.
    static func find(_ stacks: [[UInt64]]) -> (index: Int, depth: Int, count: Int)? {
        guard !stacks.isEmpty else { return nil }
        var group = Array(stacks.indices)
        var depth = 0
        while true {
            var counts: [UInt64: Int] = [:]
            for index in group where stacks[index].count > depth {
                counts[function(stacks[index], depth), default: 0] += 1
            }
            // Among equals the smallest address, so that the answer does not depend on a hash.
            guard let best = counts.max(by: { ($0.value, $1.key) < ($1.value, $0.key) }), best.value * 2 > stacks.count
            else { break }
            group.removeAll { stacks[$0].count <= depth || function(stacks[$0], depth) != best.key }
            depth += 1
        }
        return depth == 0 ? nil : (group[0], depth, group.count)
    }

    private static func function(_ stack: [UInt64], _ depth: Int) -> UInt64 { stack[stack.count - 1 - depth] }
}
