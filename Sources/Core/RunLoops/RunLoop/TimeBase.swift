// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

extension RunLoop {
    /// The clock that an instant is counted on.
    ///
    /// See `clock_gettime(2)`.
    public enum ClockID: UInt8, Sendable, Hashable, CaseIterable {
        /// `CLOCK_MONOTONIC`: counts from the start of the machine and stands still while it is suspended.
        case monotonic
        /// `CLOCK_BOOTTIME`: counts from the start of the machine, also while it is suspended.
        case boottime
        /// `CLOCK_REALTIME`: the wall clock, in nanoseconds since 1970, which follows every change of the date.
        case realtime
    }
}
