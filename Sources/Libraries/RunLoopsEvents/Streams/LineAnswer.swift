// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

internal import RunLoops

/// The answer to one line, which the program sends at once or later.
///
/// ``RunLoops/RunLoop/answerLines(of:on:limit:maxUnanswered:label:in:fileID:line:later:)`` makes one for each line. Answers are
/// written in the order of their lines, whatever the order in which they are sent.
///
/// A line that gets no answer would hold up the answers of the lines behind it. So an answer that is released without
/// ``send(_:)`` ends the dialogue: the answers before it are written, and the output is finished.
///
/// Thread safety: all members may be used by any thread.
public final class LineAnswer: Sendable {
    private let dialogue: LaterDialogue
    private let number: Int

    init(_ dialogue: LaterDialogue, _ number: Int) {
        self.dialogue = dialogue
        self.number = number
    }

    deinit { dialogue.abandon(number) }

    /// Whether the answer can still reach the client: `false` after ``send(_:)``, and when the output has ended or failed.
    ///
    /// Work that takes long asks from time to time. That a client has gone shows when something is written to it.
    public var isWanted: Bool { dialogue.isWanted(number) }

    /// Sends the answer: writes it when the lines before have theirs.
    ///
    /// - Parameter text: The answer, without the line feed at the end.
    /// - Returns: Whether the answer was taken; `false` for a second answer to one line, and if the output has ended or failed.
    /// - Complexity: O(n) in the bytes, and in the bytes of the answers that have waited for this one.
    @discardableResult
    public func send(_ text: String) -> Bool { dialogue.answer(number, text) }
}

/// The lines of one input whose answers come later.
// Unchecked: each property says which thread uses it, or which lock guards it.
final class LaterDialogue: @unchecked Sendable {
    /// An answer that was not written yet.
    private enum Answer {
        case unsent
        case sent(String)
        case abandoned
    }

    // The loop's thread alone.
    private let loop: RunLoop
    private let mode: RunLoop.Mode
    private let maxUnanswered: Int
    private var ask: ((String, LineAnswer) -> Void)?
    private var lines: [String] = []
    private var isAsking = false
    private var isInputOver = false
    weak var reader: InputReader<String>?

    private let lock = Lock()
    // Guarded by the lock, which is taken before those of the writer.
    /// `nil` before the writer is made, and once nothing can be written any more.
    @exclusivity(unchecked) private var writer: OutputWriter?
    @exclusivity(unchecked) private var answers: [Answer] = []
    /// The number of the first of `answers`.
    @exclusivity(unchecked) private var first = 0
    @exclusivity(unchecked) private var hasRoom = true
    /// Whether a line, or the reader, waits until an answer is sent.
    @exclusivity(unchecked) private var isBlocked = false
    /// Whether no answer will be added.
    @exclusivity(unchecked) private var hasEnded = false

    init(_ loop: RunLoop, _ mode: RunLoop.Mode, _ maxUnanswered: Int, _ ask: @escaping (String, LineAnswer) -> Void) {
        self.loop = loop
        self.mode = mode
        self.maxUnanswered = max(1, maxUnanswered)
        self.ask = ask
    }

    // MARK: The loop's thread

    func begin(with writer: OutputWriter) { lock.withLock { self.writer = writer } }

    func take(_ lines: [String]) {
        self.lines += lines
        askAll()
    }

    /// The input has ended: the output is finished after the answers to the lines that were read.
    func inputEnds() {
        isInputOver = true
        askAll()
    }

    func drained() {
        lock.withLock { hasRoom = true }
        askAll()
    }

    /// Nothing can be written any more.
    func outputEnds() {
        let released = lock.withLock { () -> OutputWriter? in
            defer { (writer, answers) = (nil, []) }
            return writer
        }
        reader?.invalidate()
        // Here, because the closure may use this thread's state, and the last answer may be released elsewhere.
        (ask, lines) = (nil, [])
        withExtendedLifetime(released) {}
    }

    /// Asks for answers while there is room for them, unless this is called by a run that is nested in the program's closure.
    private func askAll() {
        if isAsking { return }
        isAsking = true
        var asked = 0
        while asked < lines.count, let ask, let number = reserve() {
            ask(lines[asked], LineAnswer(self, number))
            asked += 1
        }
        isAsking = false
        lines.removeFirst(min(asked, lines.count))
        lock.withLock {
            if isInputOver, lines.isEmpty { hasEnded = true }
            finishIfOver()
        }
        reader?.isReadingPaused = isPaused
    }

    private var isPaused: Bool { lock.withLock { waitsForAnswer() || !hasRoom } || !lines.isEmpty }

    /// Whether too many answers are missing; the next answer then has ``askAll()`` called.
    ///
    /// In one step with the lock held: another thread may send that answer right after it.
    private func waitsForAnswer() -> Bool {
        if answers.count >= maxUnanswered { isBlocked = true }
        return answers.count >= maxUnanswered
    }

    /// The number of one more answer; `nil` if there is no room for it.
    private func reserve() -> Int? {
        lock.withLock {
            guard writer != nil, !hasEnded, hasRoom, !waitsForAnswer() else { return nil }
            answers.append(.unsent)
            return first + answers.count - 1
        }
    }

    // MARK: Any thread

    func isWanted(_ number: Int) -> Bool { lock.withLock { index(ofUnsent: number) != nil } }

    func answer(_ number: Int, _ text: String) -> Bool { settle(number, .sent(text)) }

    func abandon(_ number: Int) { _ = settle(number, .abandoned) }

    private func settle(_ number: Int, _ answer: Answer) -> Bool {
        let (isTaken, goesOn) = lock.withLock { () -> (Bool, Bool) in
            guard let index = index(ofUnsent: number) else { return (false, false) }
            answers[index] = answer
            writeAnswers()
            finishIfOver()
            let goesOn = isBlocked && answers.count < maxUnanswered
            if goesOn { isBlocked = false }
            return (true, goesOn)
        }
        // The lines that have waited are asked on the loop's thread.
        if goesOn { loop.perform(in: mode) { [self] in askAll() } }
        return isTaken
    }

    // With the lock held.
    private func index(ofUnsent number: Int) -> Int? {
        let index = number - first
        guard writer != nil, answers.indices.contains(index), case .unsent = answers[index] else { return nil }
        return index
    }

    /// Writes the answers that are next in the order of the lines.
    ///
    /// With the lock held, so that the answers of two threads keep their order.
    private func writeAnswers() {
        var text = ""
        var count = 0
        loop: for answer in answers {
            switch answer {
            case .unsent: break loop
            case .sent(let answer): text += answer + "\n"
            case .abandoned:
                hasEnded = true
                // The answers behind it are dropped.
                answers = []
                if !text.isEmpty { writer?.write(text.utf8) }
                return
            }
            count += 1
        }
        if count == 0 { return }
        answers.removeFirst(count)
        first += count
        hasRoom = writer?.write(text.utf8) ?? false
    }

    /// With the lock held.
    private func finishIfOver() { if hasEnded, answers.isEmpty { writer?.finish() } }
}
