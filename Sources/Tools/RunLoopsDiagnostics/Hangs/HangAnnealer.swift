// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

/// Lets the same hang be reported less and less often: the 1st time it comes, the 2nd, the 4th, the 8th, and so on.
///
/// Two hangs are the same if the majority stack of one is the outer part of where the other was found.
struct HangAnnealer {
    /// The identity of a hang: the callout, then its functions by their addresses, outermost first.
    struct Key: Equatable {
        var callout: String
        var functions: [UInt64]

        /// Whether `other`, one sample, is where this one was most of the time.
        fileprivate func matches(_ other: Key) -> Bool {
            callout == other.callout && other.functions.starts(with: functions)
        }
    }

    private struct Known {
        var key: Key
        var count = 1
        var leftOut = 0
    }

    /// More kinds of hangs than this cannot be distinguished from new kinds.
    private static let mostKinds = 64

    // The kind that came last is last.
    private var known: [Known] = []

    /// A hang has begun: whether to report it, and how many have been left out before.
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

    /// A reported hang has ended, with this majority stack.
    mutating func ends(_ majority: Key) {
        if known.contains(where: { $0.key.matches(majority) }) { return }
        if known.count == Self.mostKinds { known.removeFirst() }
        known.append(Known(key: majority))
    }
}
