// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

internal import RunLoops

/// The monotonic clock of one loop, for objects that may outlive it: they keep no kernel with open descriptors.
struct LoopClock: Sendable {
    /// One with a time of its own; `nil` for the system's.
    private let kernel: (any Kernel)?

    init(_ loop: RunLoop) { kernel = loop.kernel is EpollKernel ? nil : loop.kernel }

    /// In nanoseconds.
    @inline(__always)
    var now: Int64 {
        if let kernel { return kernel.now(.monotonic) }
        return SystemCalls.now(.monotonic)
    }
}
