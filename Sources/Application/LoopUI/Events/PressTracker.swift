// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

/// The keys that are held, made of the input of keyboards.
@MainActor struct PressTracker {
    private var held: [Press] = []
    /// The press of the next key, and the set of it alone.
    private var next: (press: Press, set: Set<Press>)?
    /// The last that was taken from there.
    private var last: Set<Press> = []

    nonisolated init() {}

    /// The press of an input, and the set of it alone: one object as long as the key is held; nil for the end of a key
    /// that is not held.
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

    /// Ends a press whose end no input will tell.
    mutating func end(_ press: Press) {
        press.phase = .ended
        held.removeAll { $0 === press }
    }

    /// Cancels the keys that are held, whose ends will not be known.
    mutating func cancel() -> Set<Press> {
        defer { held = [] }
        for press in held { press.phase = .cancelled }
        return Set(held)
    }

    // MARK: The next key

    /// Makes the press of the next key, and releases the last.
    ///
    /// Called after a frame has gone out, when nobody waits: to make the set of a press, and to release it, costs as much
    /// as the rest of a key's way to its responder.
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
