// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

/// The times to wait for the rest of a terminal's input.
///
/// A time below zero counts as zero, and a time above ``longest`` as ``longest``.
public struct InputTiming: Hashable, Sendable {
    /// The maximum of each of the three times: 30 seconds.
    public static let longest = Duration.seconds(30)

    /// How long an escape waits for the rest of a sequence before it counts as the Escape key.
    ///
    /// The time should be longer than the gaps that a slow connection makes between the bytes of a key, and shorter
    /// than a user notices. It is 25 milliseconds unless set, or the milliseconds of the environment variable
    /// `ESCDELAY`, as in ncurses.
    public var escapeDelay: Duration {
        get { ownEscapeDelay }
        set { ownEscapeDelay = Self.clamped(newValue) }
    }
    private var ownEscapeDelay = Duration.milliseconds(25)

    /// How long a display expects a terminal's answers to its questions, from the opening of the terminal on.
    ///
    /// If the terminal is to be restored within this time and has not answered yet, the display waits for the answers,
    /// since a later answer would appear as typed text in the shell. An escape that is received within this time may
    /// begin an answer, so it counts as the Escape key only when the time has passed. The time is one second unless
    /// set.
    public var answerTimeout: Duration {
        get { ownAnswerTimeout }
        set { ownAnswerTimeout = Self.clamped(newValue) }
    }
    private var ownAnswerTimeout = Duration.seconds(1)

    /// How long a display waits for the end of a sequence, a control string or a pasted text before the end counts as
    /// lost.
    ///
    /// The time of a sequence or a string runs from its beginning, the time of a pasted text from the last byte that
    /// was received. When the time has passed, an incomplete sequence or string is dropped, an incomplete text is
    /// pasted, and the next bytes are keys again. The time is 5 seconds unless set, as tmux gives to strings.
    public var sequenceTimeout: Duration {
        get { ownSequenceTimeout }
        set { ownSequenceTimeout = Self.clamped(newValue) }
    }
    private var ownSequenceTimeout = Duration.seconds(5)

    /// Creates the times; a new display has the default values.
    ///
    /// - Parameters:
    ///   - escapeDelay: How long an escape waits for the rest of a sequence.
    ///   - answerTimeout: How long answers of the terminal are expected.
    ///   - sequenceTimeout: How long the rest of a sequence, a string or a pasted text may be missing.
    public init(
        escapeDelay: Duration = .milliseconds(25), answerTimeout: Duration = .seconds(1),
        sequenceTimeout: Duration = .seconds(5)
    ) {
        self.escapeDelay = escapeDelay
        self.answerTimeout = answerTimeout
        self.sequenceTimeout = sequenceTimeout
    }

    /// Creates the times with the escape delay in milliseconds, as in the variable `ESCDELAY` of ncurses; it is ignored
    /// if it is not a number.
    package init(escapeDelay text: String?) {
        self.init()
        if let text, let delay = UInt32(text) { escapeDelay = .milliseconds(Int64(delay)) }
    }

    private static func clamped(_ time: Duration) -> Duration { min(max(.zero, time), longest) }
}
