// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

internal import RunLoops

/// The instants of frames: a grid through the beginning of the clock, exact to less than a nanosecond at any distance.
///
/// Values in, values out. Everybody who asks for the same rate gets the same grid. So links are in step without
/// knowledge of each other, also with links of a multiple of the rate.
struct FrameGrid: Equatable {
    /// Frames in a thousand seconds: rates such as 59.94 are exact as well.
    private let rate: Int128
    private static let unit: Int128 = 1000 * 1_000_000_000

    /// - Precondition: at least one frame in a thousand seconds, at most a million a second.
    init(framesPerSecond: Double) {
        require(
            framesPerSecond >= 0.001 && framesPerSecond <= 1_000_000,
            "A display link was given \(framesPerSecond) frames a second: 0.001 to 1,000,000 are possible. Pause it to stop it."
        )
        rate = Int128((framesPerSecond * 1000).rounded())
    }

    /// The number of the frame that lasts at `now`.
    func index(at now: Int64) -> Int64 { Int64(Int128(now) * rate / Self.unit) }

    /// The first nanosecond of a frame.
    func start(of index: Int64) -> Int64 {
        Int64(clamping: (Int128(index) * Self.unit + rate - 1) / rate)
    }
}
