// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

#if Window
import CLoopUIXCB
import LoopUI
import Testing

@testable import LoopUIWindow

/// From what the server reports to raw input.
@Suite struct InputTests {
    @Test func `A paste shortcut is taken from its first key down to its end, also with other modifiers`() {
        var shortcut = PasteShortcut()
        func take(_ key: Key, _ modifiers: KeyModifiers, _ phase: KeyInput.Phase = .began) -> (
            Bool, PasteShortcut.Selection?
        ) {
            shortcut.take(KeyInput(key, modifiers: modifiers, phase: phase))
        }
        #expect(take(.character("V"), .control) == (true, .clipboard))
        #expect(take(.character("V"), .control, .repeated) == (true, nil))
        #expect(take(.character("a"), []) == (false, nil))
        #expect(take(.character("V"), [], .ended) == (true, nil))
        #expect(take(.character("V"), [], .ended) == (false, nil))
        #expect(take(.character("V"), []) == (false, nil))
        #expect(take(.insert, .shift) == (true, .primary))
        shortcut.cancel()
        #expect(take(.insert, [], .ended) == (false, nil))
    }

    // MARK: Pointer

    private func pointer(
        _ phase: PointerInput.Phase, _ x: Double, _ y: Double, _ button: Int = 0, _ modifiers: KeyModifiers = []
    ) -> RawInput {
        .pointer(PointerInput(phase, at: Point(x, y), button: button, modifiers: modifiers))
    }

    @Test func `The positions of a drag have fractions of a cell`() {
        var translator = PointerTranslator(cell: Size(10, 20))
        #expect(translator.moved(to: Pixel(x: 1, y: 1), state: 0).isEmpty)
        #expect(
            translator.button(1, isDown: true, at: Pixel(x: 25, y: 50), state: 1)
                == pointer(.began, 2.5, 2.5, 0, .shift))
        #expect(translator.moved(to: Pixel(x: -5, y: 45), state: 0) == [pointer(.moved, -0.5, 2.25)])
        #expect(translator.button(1, isDown: false, at: Pixel(x: 0, y: 0), state: 0) == pointer(.ended, 0, 0))
        #expect(translator.button(1, isDown: false, at: Pixel(x: 0, y: 0), state: 0) == nil)
    }

    @Test func `A move or a cancellation is reported for each pressed mouse button, at the last position`() {
        var translator = PointerTranslator(cell: Size(10, 10))
        _ = translator.button(3, isDown: true, at: Pixel(x: 10, y: 10), state: 0)
        _ = translator.button(1, isDown: true, at: Pixel(x: 10, y: 10), state: 0)
        _ = translator.button(9, isDown: true, at: Pixel(x: 10, y: 10), state: 0)
        #expect(
            translator.moved(to: Pixel(x: 20, y: 30), state: 0)
                == [pointer(.moved, 2, 3, 0), pointer(.moved, 2, 3, 2), pointer(.moved, 2, 3, 8)])
        #expect(
            translator.cancel()
                == [pointer(.cancelled, 2, 3, 0), pointer(.cancelled, 2, 3, 2), pointer(.cancelled, 2, 3, 8)])
        #expect(translator.cancel().isEmpty)
        #expect(translator.button(3, isDown: false, at: Pixel(x: 0, y: 0), state: 0) == nil)
    }

    @Test func `Each finger moves independently of other fingers and of the mouse`() {
        var translator = PointerTranslator(cell: Size(10, 10))
        func touch(_ number: UInt32, _ phase: ServerEvent.TouchPhase, _ x: Int, _ y: Int) -> RawInput? {
            translator.touch(number, phase, at: Pixel(x: x, y: y), state: 1)
        }
        func finger(
            _ phase: PointerInput.Phase, _ x: Double, _ y: Double, _ number: Int, _ modifiers: KeyModifiers = .shift
        ) -> RawInput {
            .pointer(PointerInput(phase, at: Point(x, y), identifier: number, modifiers: modifiers))
        }
        #expect(touch(0, .moved, 0, 0) == nil)
        #expect(touch(0, .began, 10, 20) == finger(.began, 1, 2, 256))
        #expect(touch(9, .began, 50, 20) == finger(.began, 5, 2, 265))
        #expect(touch(0, .moved, 15, 20) == finger(.moved, 1.5, 2, 256))
        #expect(
            translator.button(1, isDown: true, at: Pixel(x: 10, y: 10), state: 0) == pointer(.began, 1, 1))
        #expect(translator.moved(to: Pixel(x: 20, y: 10), state: 0) == [pointer(.moved, 2, 1)])
        #expect(touch(0, .ended, 15, 25) == finger(.ended, 1.5, 2.5, 256))
        #expect(touch(0, .ended, 15, 25) == nil)
        #expect(translator.cancel() == [pointer(.cancelled, 2, 1), finger(.cancelled, 5, 2, 265, [])])
        #expect(touch(9, .moved, 0, 0) == nil && touch(9, .ended, 0, 0) == nil)
    }

    @Test func `Presses of buttons 4 to 7 are wheel notches, and their releases are ignored`() {
        var translator = PointerTranslator(cell: Size(10, 10))
        for (number, notches) in [(4, Point(0, -1)), (5, Point(0, 1)), (6, Point(-1, 0)), (7, Point(1, 0))] {
            #expect(
                translator.button(number, isDown: true, at: Pixel(x: 15, y: 5), state: 4)
                    == .wheel(WheelInput(notches, at: Point(1.5, 0.5), modifiers: .control)))
            #expect(translator.button(number, isDown: false, at: Pixel(x: 15, y: 5), state: 4) == nil)
        }
        #expect(KeyModifiers(state: 1 | 4 | 8 | 64) == [.shift, .control, .alt, .command])
        // Caps lock, num lock, the level of AltGr and the buttons are none.
        #expect(KeyModifiers(state: 2 | 16 | 128 | 256).isEmpty)
    }

    // MARK: Keys

    @Test func `Key symbols of the keyboard map to keys`() {
        let named: [(Int32, Key)] = [
            (XKB_KEY_Return, .enter), (XKB_KEY_KP_Enter, .enter), (XKB_KEY_ISO_Left_Tab, .tab), (XKB_KEY_Tab, .tab),
            (XKB_KEY_Escape, .escape), (XKB_KEY_BackSpace, .backspace), (XKB_KEY_Delete, .delete),
            (XKB_KEY_Insert, .insert), (XKB_KEY_Up, .up), (XKB_KEY_KP_Down, .down), (XKB_KEY_Left, .left),
            (XKB_KEY_Right, .right), (XKB_KEY_Home, .home), (XKB_KEY_End, .end), (XKB_KEY_Prior, .pageUp),
            (XKB_KEY_Next, .pageDown), (XKB_KEY_F1, .function(1)), (XKB_KEY_F12, .function(12)),
            (XKB_KEY_F35, .function(35)), (XKB_KEY_a, .character("a")), (XKB_KEY_A, .character("A")),
            (XKB_KEY_space, .character(" ")), (XKB_KEY_KP_5, .character("5")), (XKB_KEY_EuroSign, .character("€")),
            (XKB_KEY_Cyrillic_zhe, .character("ж")), (0x0100_1F44, .character("\u{1F44}")),
            (XKB_KEY_Pause, .other(Int(XKB_KEY_Pause))),
        ]
        for (symbol, key) in named { #expect(Key(keysym: UInt32(symbol)) == key) }
        for symbol in [
            XKB_KEY_NoSymbol, XKB_KEY_Shift_L, XKB_KEY_Control_R, XKB_KEY_Alt_L, XKB_KEY_Super_L, XKB_KEY_Caps_Lock,
            XKB_KEY_ISO_Level3_Shift, XKB_KEY_Num_Lock, XKB_KEY_Mode_switch, XKB_KEY_dead_acute, XKB_KEY_Multi_key,
        ] { #expect(Key(keysym: UInt32(symbol)) == nil) }
    }

    /// The codes of a keyboard for PCs: evdev's numbers and 8.
    private enum Code {
        static let q: UInt32 = 24, a: UInt32 = 38, c: UInt32 = 54, y: UInt32 = 29, tab: UInt32 = 23, f1: UInt32 = 67
        static let two: UInt32 = 11, e: UInt32 = 26, shift: UInt32 = 50
    }

    @Test func `A held key repeats and ends with the same character, even if Shift is released meanwhile`() throws {
        let keyboard = try Keyboard(layout: "us")
        #expect(keyboard.input(code: Code.shift, isDown: true, state: 0) == nil)
        #expect(keyboard.input(code: Code.a, isDown: true, state: 1) == KeyInput(.character("A")))
        #expect(keyboard.input(code: Code.a, isDown: true, state: 1) == KeyInput(.character("A"), phase: .repeated))
        #expect(keyboard.input(code: Code.shift, isDown: false, state: 1) == nil)
        #expect(keyboard.input(code: Code.a, isDown: false, state: 0) == KeyInput(.character("A"), phase: .ended))
        #expect(keyboard.input(code: Code.a, isDown: false, state: 0) == nil)
        _ = keyboard.input(code: Code.a, isDown: true, state: 0)
        keyboard.forgetHeld()
        #expect(keyboard.input(code: Code.a, isDown: true, state: 0) == KeyInput(.character("a")))
    }

    @Test func `A modifier is reported only if it did not change the character`() throws {
        let keyboard = try Keyboard(layout: "us")
        func down(_ code: UInt32, _ state: UInt16) -> KeyInput? {
            keyboard.forgetHeld()
            return keyboard.input(code: code, isDown: true, state: state)
        }
        #expect(down(Code.c, 4) == KeyInput(.character("c"), modifiers: .control))
        #expect(down(Code.c, 5) == KeyInput(.character("C"), modifiers: .control))
        #expect(down(Code.two, 1) == KeyInput(.character("@")))
        #expect(down(Code.tab, 1) == KeyInput(.tab, modifiers: .shift))
        #expect(down(Code.f1, 1 | 4 | 8) == KeyInput(.function(1), modifiers: [.shift, .control, .alt]))
        #expect(down(Code.a, 2) == KeyInput(.character("A")))
    }

    @Test func `The keyboard layout decides the character, and shortcuts use the Latin layout`() throws {
        let german = try Keyboard(layout: "de")
        #expect(german.input(code: Code.y, isDown: true, state: 0) == KeyInput(.character("z")))
        // AltGr.
        #expect(german.input(code: Code.e, isDown: true, state: 128) == KeyInput(.character("€")))
        let both = try Keyboard(layout: "us,ru")
        let russian: UInt16 = 1 << 13
        #expect(both.input(code: Code.q, isDown: true, state: russian) == KeyInput(.character("й")))
        #expect(
            both.input(code: Code.c, isDown: true, state: russian | 4) == KeyInput(.character("c"), modifiers: .control)
        )
    }
}
#endif
