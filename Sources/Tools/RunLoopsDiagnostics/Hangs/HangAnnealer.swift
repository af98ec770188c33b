// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

/// Decides which occurrences of a hang are reported: the 1st, the 2nd, the 4th, the 8th, and so on.
///
/// A new hang is the same as an earlier one if both have the same callout, and if the outer functions of the new stack
/// are the majority stack of the earlier hang.
struct HangAnnealer {
    /// The identity of a hang: the callout, then its functions by their addresses, outermost first.
    struct Key: Equatable {
        var callout: String
        var functions: [UInt64]

        /// Whether `other`, the first sample of a new hang, is inside the functions of this hang's majority stack.
        fileprivate func matches(_ other: Key) -> Bool {
            callout == other.callout && other.functions.starts(with: functions)
        }
    }

    private struct Known {
        var key: Key
        var count = 1
        var leftOut = 0
    }

    /// The maximum number of hangs that are remembered; older ones count as new when they occur again.
    private static let maxKinds = 64

    // The kind that came last is last.
    private var known: [Known] = []

    /// Called when a hang begins: returns whether to report it, and how many of the same kind have been left out since
    /// the last report.
    mutating func begins(_ sample: Key) -> (isReported: Bool, leftOut: Int) {
        guard let index = known.firstIndex(where: { $0.key.matches(sample) }) else { return (true, 0) }
        var kind = known.remove(at: index)
        defer { known.append(kind) }
        kind.count += 1
        let isReported = kind.count & (kind.count - 1) == 0
        let leftOut = kind.leftOut
        kind.leftOut = isReported ? 0 : leftOut + 1
        return (isReported, leftOut)
    }

    /// Called when a reported hang has ended, with its majority stack.
    mutating func ends(_ majority: Key) {
        if known.contains(where: { $0.key.matches(majority) }) { return }
        if known.count == Self.maxKinds { known.removeFirst() }
        known.append(Known(key: majority))
    }
}
