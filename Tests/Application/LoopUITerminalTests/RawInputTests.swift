// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import LoopUI
import RunLoopsTerminal
import Testing

@testable import LoopUITerminal

/// The inputs that a terminal's events are for an application.
@Suite struct RawInputTests {
    @Test func `Each key has the same name as an input`() {
        let keys: [(RawTerminal.Key, Key)] = [
            (.character("é"), .character("é")), (.enter, .enter), (.tab, .tab), (.escape, .escape),
            (.backspace, .backspace), (.delete, .delete), (.insert, .insert), (.up, .up), (.down, .down),
            (.left, .left), (.right, .right), (.home, .home), (.end, .end), (.pageUp, .pageUp), (.pageDown, .pageDown),
            (.function(5), .function(5)), (.other(57361), .other(57361)),
        ]
        for (key, name) in keys { #expect(RawInput(.key(.init(key))) == .key(KeyInput(name))) }
    }

    private static let modifiers: [(RawTerminal.Modifiers, KeyModifiers)] = [
        (.shift, .shift), (.alt, .alt), (.control, .control), (.command, .command),
        ([.shift, .control], [.shift, .control]),
    ]

    @Test(arguments: modifiers)
    func `Modifiers and phases are those of the event`(modifiers: RawTerminal.Modifiers, expected: KeyModifiers) {
        let phases: [(RawTerminal.KeyPress.Phase, KeyInput.Phase)] = [
            (.began, .began), (.repeated, .repeated), (.ended, .ended),
        ]
        for (phase, name) in phases {
            #expect(
                RawInput(.key(.init(.up, modifiers: modifiers, phase: phase)))
                    == .key(KeyInput(.up, modifiers: expected, phase: name)))
        }
    }

    private static let events: [(RawTerminal.Event, RawInput?)] = [
        (
            .mouse(.init(.pressed, column: 2, row: 3)),
            .pointer(PointerInput(.began, at: Point(2, 3)))
        ),
        (
            .mouse(.init(.moved, button: 2, column: 2, row: 3)),
            .pointer(PointerInput(.moved, at: Point(2, 3), button: 2))
        ),
        (
            .mouse(.init(.released, button: 1, column: 0, row: 3, modifiers: .alt)),
            .pointer(PointerInput(.ended, at: Point(0, 3), button: 1, modifiers: .alt))
        ),
        (
            .mouse(.init(.wheel(columns: 1, rows: -1), column: 2, row: 3)),
            .wheel(WheelInput(Point(1, -1), at: Point(2, 3)))
        ),
        (.paste("a", isLast: false), .paste("a", isLast: false)), (.focus(true), .focus(true)),
        (.resized(.init(columns: 100, rows: 30)), .resized(Size(100, 30))),
        (.reply(.deviceAttributes([1])), nil), (.hungUp, nil),
    ]

    @Test(arguments: events)
    func `Each event of a terminal is an input, and an answer is none`(event: RawTerminal.Event, input: RawInput?) {
        #expect(RawInput(event) == input)
    }
}
