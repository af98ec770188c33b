// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

/// The keys that are held, made of the input of keyboards.
@MainActor struct PressTracker {
    private var held: [Press] = []
    /// The press for the next key, and a set that contains only this press.
    private var next: (press: Press, set: Set<Press>)?
    /// The set of the press that was taken last from `next`.
    private var last: Set<Press> = []

    nonisolated init() {}

    /// Returns the press of a keyboard input, and a set that contains only this press; nil if a key goes up that is not
    /// held.
    ///
    /// The press is the same object while the key is held.
    mutating func press(for input: KeyInput) -> (Press, Set<Press>)? {
        let known = held.first { $0.key == input.key }
        if known == nil, input.phase == .ended { return nil }
        let (press, set) = known.map { ($0, [$0]) } ?? takeNext()
        press.key = input.key
        press.modifiers = input.modifiers
        switch input.phase {
        // The end of a key that goes down again was lost.
        case .began: press.phase = .began
        case .repeated: press.phase = .repeated
        case .ended: press.phase = .ended
        }
        held.removeAll { $0 === press }
        if input.phase != .ended { held.append(press) }
        return (press, set)
    }

    /// Ends a press for whose key no further input will come.
    mutating func end(_ press: Press) {
        press.phase = .ended
        held.removeAll { $0 === press }
    }

    /// Cancels the presses of all keys that are held, since their ends will not be known, and returns the presses.
    mutating func cancel() -> Set<Press> {
        defer { held = [] }
        for press in held { press.phase = .cancelled }
        return Set(held)
    }

    // MARK: The next key

    /// Makes the press for the next key, and releases the last set that was taken.
    ///
    /// Called after a frame was sent, when no user waits: making and releasing the set of a press costs as much as all
    /// other work between a key and its responder.
    mutating func prepare() {
        last = []
        if next != nil { return }
        let press = Press(.escape)
        next = (press, [press])
    }

    private mutating func takeNext() -> (Press, Set<Press>) {
        if next == nil { prepare() }
        guard let taken = next.take() else { preconditionFailure("A press was prepared and is not there.") }
        last = taken.set
        return taken
    }
}
