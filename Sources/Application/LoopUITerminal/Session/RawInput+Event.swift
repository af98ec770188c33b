// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

internal import LoopUI
internal import RunLoopsTerminal

extension InputQueue {
    /// Connects a session with the queue: its events, and the requests to end and to stop.
    func connect(_ session: Session) {
        session.isFull = { [weak self] in self?.isFull ?? true }
        session.terminate = { [weak self] in self?.push(.terminate(signal: $0)) }
        session.stopRequested = { [weak self] in self?.push(.suspend) }
        session.hasContinued = { [weak self] in self?.push(.resumed) }
        session.isReady = { [weak self] in self?.displayIsReady() }
        roomHandler = { [weak session] in session?.connection?.watch() }
    }

    /// Adds an event of a terminal if it is an input.
    func push(_ event: RawTerminal.Event) { if let input = RawInput(event) { push(input) } }
}

extension RawInput {
    /// Makes an input of an event; `nil` for an answer, and for the end of the terminal, which its owner handles.
    init?(_ event: RawTerminal.Event) {
        switch event {
        case .key(let press):
            self = .key(
                KeyInput(Key(press.key), modifiers: KeyModifiers(press.modifiers), phase: press.phase.keyPhase))
        case .paste(let text, let isLast): self = .paste(text, isLast: isLast)
        case .mouse(let mouse): self = mouse.input
        case .focus(let isFocused): self = .focus(isFocused)
        case .resized(let size): self = .resized(Size(size))
        case .reply, .hungUp: return nil
        }
    }
}

extension Size {
    init(_ size: RawTerminal.Size) { self.init(Double(size.columns), Double(size.rows)) }
}

extension KeyModifiers {
    /// The bits are the same.
    fileprivate init(_ modifiers: RawTerminal.Modifiers) { self.init(rawValue: modifiers.rawValue) }
}

extension RawTerminal.KeyPress.Phase {
    fileprivate var keyPhase: KeyInput.Phase {
        switch self {
        case .began: .began
        case .repeated: .repeated
        case .ended: .ended
        }
    }
}

extension Key {
    fileprivate init(_ key: RawTerminal.Key) {
        self =
            switch key {
            case .character(let character): .character(character)
            case .enter: .enter
            case .tab: .tab
            case .escape: .escape
            case .backspace: .backspace
            case .delete: .delete
            case .insert: .insert
            case .up: .up
            case .down: .down
            case .left: .left
            case .right: .right
            case .home: .home
            case .end: .end
            case .pageUp: .pageUp
            case .pageDown: .pageDown
            case .function(let number): .function(number)
            case .other(let number): .other(number)
            }
    }
}

extension RawTerminal.Mouse {
    fileprivate var input: RawInput {
        let position = Point(Double(column), Double(row))
        let modifiers = KeyModifiers(modifiers)
        let phase: PointerInput.Phase
        switch action {
        case .wheel(let columns, let rows):
            return .wheel(WheelInput(Point(Double(columns), Double(rows)), at: position, modifiers: modifiers))
        case .pressed: phase = .began
        case .moved: phase = .moved
        case .released: phase = .ended
        }
        return .pointer(PointerInput(phase, at: position, button: button, modifiers: modifiers))
    }
}
