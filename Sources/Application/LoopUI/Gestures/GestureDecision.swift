// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

/// The choice between the gestures that were recognised in a turn.
///
/// A gesture begins if no gesture of the same touches that was recognised before prevents it, its delegate agrees, and
/// all that it requires to fail have failed. The gestures that it
/// prevents fail then, and so do the gestures that require it to fail.
@MainActor struct GestureDecision {
    private let recognizers: [GestureRecognizer]

    /// A choice between recognisers that have seen touches.
    init(_ recognizers: [GestureRecognizer]) { self.recognizers = recognizers }

    /// Decides, and returns the recognisers whose gestures have begun; the caller sets the states that they asked for.
    func decide() -> [GestureRecognizer] {
        var begun: [GestureRecognizer] = []
        while let next = nextToBegin() { if begin(next) { begun.append(next) } }
        for recognizer in candidates { recognizer.progress = .open(wishes: recognizer.progress.wishes, .waiting) }
        return begun
    }

    /// The recognisers that ask to begin, the earliest first.
    private var candidates: [GestureRecognizer] {
        recognizers.filter { $0.progress.decided == .possible && !$0.progress.wishes.isEmpty }
    }

    /// Returns the recogniser that begins next; recognisers that may not begin are set to `failed` during the search.
    private func nextToBegin() -> GestureRecognizer? {
        for recognizer in candidates where !mayBegin(recognizer) && recognizer.progress.decided == .possible {
            recognizer.fail()
        }
        let waiting = candidates
        let free = waiting.filter { !hasBlocker($0) }
        if let first = free.first(where: { one in !free.contains { outranks($0, one) } }) ?? free.first { return first }
        // Some wait for each other and for nobody else: the first of them begins, or they would wait for ever.
        return waiting.first { waitsOnlyFor(waiting, $0) }
    }

    /// Begins a gesture, unless a call to the program since the choice has cancelled it.
    private func begin(_ recognizer: GestureRecognizer) -> Bool {
        guard case .open(let wishes, _) = recognizer.progress, let wish = wishes.first else { return false }
        recognizer.progress = .decided(wish, wishes: wishes)
        for other in recognizers where other !== recognizer && other.progress.decided == .possible {
            // The delegates that are asked may have ended the other gesture.
            if Self.requires(other, recognizer) || prevents(recognizer, other), other.progress.decided == .possible {
                other.fail()
            }
        }
        return true
    }

    private func mayBegin(_ recognizer: GestureRecognizer) -> Bool {
        let isPrevented = recognizers.contains {
            $0 !== recognizer && $0.progress.decided.isRecognized && prevents($0, recognizer)
        }
        if isPrevented { return false }
        guard case .open(let wishes, .unasked) = recognizer.progress else { return true }
        recognizer.progress = .open(wishes: wishes, .allowed)
        return recognizer.delegate?.gestureRecognizerShouldBegin(recognizer) ?? true
    }

    // MARK: Relations

    /// Returns the recognisers that have to fail before `recognizer` begins, and that have not failed yet.
    private func blockers(of recognizer: GestureRecognizer) -> [GestureRecognizer] {
        recognizers.filter {
            $0 !== recognizer && $0.progress.decided == .possible && Self.requires(recognizer, $0)
        }
    }

    private func hasBlocker(_ recognizer: GestureRecognizer) -> Bool { !blockers(of: recognizer).isEmpty }

    /// Whether all recognisers that `recognizer` waits for, directly or through others, are in `waiting`.
    private func waitsOnlyFor(_ waiting: [GestureRecognizer], _ recognizer: GestureRecognizer) -> Bool {
        var reached: [GestureRecognizer] = [recognizer]
        var index = 0
        while index < reached.count {
            for blocker in blockers(of: reached[index]) where !reached.contains(where: { $0 === blocker }) {
                guard waiting.contains(where: { $0 === blocker }) else { return false }
                reached.append(blocker)
            }
            index += 1
        }
        return true
    }

    static func requires(_ recognizer: GestureRecognizer, _ other: GestureRecognizer) -> Bool {
        recognizer.requirements.contains { $0.recognizer === other }
            || recognizer.delegate?.gestureRecognizer(recognizer, shouldRequireFailureOf: other) ?? false
            || other.delegate?.gestureRecognizer(other, shouldBeRequiredToFailBy: recognizer) ?? false
    }

    /// Whether the first gesture, when recognised, makes the other one fail.
    private func prevents(_ first: GestureRecognizer, _ other: GestureRecognizer) -> Bool {
        guard first.seen.contains(where: other.hasSeen) else { return false }
        guard first.canPrevent(other), other.canBePrevented(by: first) else { return false }
        let first = (first, other)
        return
            !(first.0.delegate?.gestureRecognizer(first.0, shouldRecognizeSimultaneouslyWith: first.1) ?? false
            || first.1.delegate?.gestureRecognizer(first.1, shouldRecognizeSimultaneouslyWith: first.0) ?? false)
    }

    /// Whether the first of two recognisers that are recognised at once takes precedence: it can prevent the other, and
    /// the other cannot prevent it.
    private func outranks(_ one: GestureRecognizer, _ other: GestureRecognizer) -> Bool {
        one !== other && prevents(one, other) && !prevents(other, one)
    }
}
