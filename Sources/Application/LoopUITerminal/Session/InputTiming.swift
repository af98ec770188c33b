// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

/// The times that a display on a terminal waits for the rest of its input.
///
/// A time below zero counts as zero, and a time above ``longest`` as ``longest``.
public struct InputTiming: Hashable, Sendable {
    /// The longest time that any of the three can be: 30 seconds.
    public static let longest = Duration.seconds(30)

    /// How long an escape waits for the rest of a sequence before it is the Escape key.
    ///
    /// Longer than the gap between two parts of a key's bytes, which a slow connection may make; shorter than a user
    /// notices. At first 25 milliseconds, or the milliseconds of the environment variable `ESCDELAY`, as in ncurses.
    public var escapeDelay: Duration {
        get { ownEscapeDelay }
        set { ownEscapeDelay = Self.clamped(newValue) }
    }
    private var ownEscapeDelay = Duration.milliseconds(25)

    /// How long the answers of a terminal to the questions of the display are expected after it was opened.
    ///
    /// A terminal that is given back within this time, before it has answered, is waited for: a later answer would be typed
    /// into the shell. An escape that comes within this time may be an answer that is split, and waits as long. At first a
    /// second.
    public var answerTimeout: Duration {
        get { ownAnswerTimeout }
        set { ownAnswerTimeout = Self.clamped(newValue) }
    }
    private var ownAnswerTimeout = Duration.seconds(1)

    /// How long the rest of a sequence, of a control string or of a pasted text may stay away before it counts as lost.
    ///
    /// The time of a sequence and of a string runs from its beginning, the time of a pasted text from its last byte. Then the
    /// text so far is pasted, and the next bytes are keys again. At first 5 seconds, as tmux gives to strings.
    public var sequenceTimeout: Duration {
        get { ownSequenceTimeout }
        set { ownSequenceTimeout = Self.clamped(newValue) }
    }
    private var ownSequenceTimeout = Duration.seconds(5)

    /// Makes the times; the defaults are those of a new display.
    ///
    /// - Parameters:
    ///   - escapeDelay: How long an escape waits for the rest of a sequence.
    ///   - answerTimeout: How long answers of the terminal are expected.
    ///   - sequenceTimeout: How long the rest of a sequence, a string or a pasted text may stay away.
    public init(
        escapeDelay: Duration = .milliseconds(25), answerTimeout: Duration = .seconds(1),
        sequenceTimeout: Duration = .seconds(5)
    ) {
        self.escapeDelay = escapeDelay
        self.answerTimeout = answerTimeout
        self.sequenceTimeout = sequenceTimeout
    }

    private static func clamped(_ time: Duration) -> Duration { min(max(.zero, time), longest) }
}
