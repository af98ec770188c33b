// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

/// What the demo was asked to be.
struct DemoOptions: Sendable {
    /// How long it lasts; nil: until the end of input, or until somebody stops it.
    var length: Duration?
    /// The interval of the two clock timers.
    var interval: Duration
    /// How often the background thread does one of its errands.
    var errandInterval: Duration
    /// True where keys are commands; false where input is lines and the demo follows a script.
    var isInteractive: Bool

    /// How long a nested run lasts.
    static let nestedLength: Duration = .seconds(2)
    /// Runs nest on the thread's one stack; the demo makes do with a few.
    static let nestingLimit = 6
    /// How long each step is left on the screen in slow motion.
    static let slowStep: Duration = .milliseconds(120)

    /// When the script goes to the tracking mode and when it comes back: the middle third.
    var trackingPart: (start: Duration, end: Duration) {
        guard let length else { return (.seconds(1), .seconds(2)) }
        return (length / 3, length * 2 / 3)
    }
}
