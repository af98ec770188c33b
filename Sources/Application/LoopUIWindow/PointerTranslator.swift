// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

#if Window
internal import CLoopUIXCB
internal import LoopUI

/// Turns events of the mouse and of fingers into raw input; knows which buttons are held and which fingers are down.
struct PointerTranslator {
    /// The size of a cell, in pixels; a cell is a point.
    let cell: Size
    private var held: [Int: Point] = [:]
    private var fingers: [Int: Point] = [:]
    /// Fingers have greater numbers than buttons.
    private static let firstFinger = 256

    init(cell: Size) { self.cell = cell }

    /// Returns the position of a pixel in points, with fractions.
    func point(_ pixel: Pixel) -> Point { Point(Double(pixel.x) / cell.width, Double(pixel.y) / cell.height) }

    /// Returns the input of a button that went down or up, or of a notch of the wheel.
    mutating func button(_ number: Int, isDown: Bool, at pixel: Pixel, state: UInt16) -> RawInput? {
        let (place, modifiers) = (point(pixel), KeyModifiers(state: state))
        let notches: Point? =
            switch number {
            case 4: Point(0, -1)
            case 5: Point(0, 1)
            case 6: Point(-1, 0)
            case 7: Point(1, 0)
            default: nil
            }
        if let notches { return isDown ? .wheel(WheelInput(notches, at: place, modifiers: modifiers)) : nil }
        let identifier = number - 1
        if isDown {
            held[identifier] = place
        } else if held.removeValue(forKey: identifier) == nil {
            // The button went down elsewhere, or its touch was cancelled.
            return nil
        }
        return .pointer(
            PointerInput(isDown ? .began : .ended, at: place, button: identifier, modifiers: modifiers))
    }

    /// Returns the inputs of a pointer that has moved, one for each button that is held.
    mutating func moved(to pixel: Pixel, state: UInt16) -> [RawInput] {
        let place = point(pixel)
        return held.keys.sorted().map { identifier in
            held[identifier] = place
            return .pointer(
                PointerInput(.moved, at: place, button: identifier, modifiers: KeyModifiers(state: state)))
        }
    }

    /// Returns the input of a finger on a touch screen.
    mutating func touch(
        _ number: UInt32, _ phase: ServerEvent.TouchPhase, at pixel: Pixel, state: UInt16
    ) -> RawInput? {
        let (place, identifier) = (point(pixel), Self.firstFinger + Int(number))
        // The finger went down elsewhere, or its touch was cancelled.
        if phase != .began, fingers[identifier] == nil { return nil }
        fingers[identifier] = phase == .ended ? nil : place
        let shown: PointerInput.Phase =
            switch phase {
            case .began: .began
            case .moved: .moved
            case .ended: .ended
            }
        return .pointer(
            PointerInput(shown, at: place, identifier: identifier, modifiers: KeyModifiers(state: state)))
    }

    /// Returns the inputs that cancel all buttons and fingers: the window no longer receives them.
    mutating func cancel() -> [RawInput] {
        defer { (held, fingers) = ([:], [:]) }
        let buttons = held.sorted { $0.key < $1.key }.map {
            RawInput.pointer(PointerInput(.cancelled, at: $0.value, button: $0.key))
        }
        return buttons
            + fingers.sorted { $0.key < $1.key }.map {
                .pointer(PointerInput(.cancelled, at: $0.value, identifier: $0.key))
            }
    }
}

extension KeyModifiers {
    /// The modifiers of an event's state.
    ///
    /// By convention the first modifier beyond shift, lock and control is alt, and the fourth is the key with the
    /// picture on it.
    init(state: UInt16) {
        self = []
        let state = UInt32(state)
        if state & XCB_MOD_MASK_SHIFT.rawValue != 0 { insert(.shift) }
        if state & XCB_MOD_MASK_CONTROL.rawValue != 0 { insert(.control) }
        if state & XCB_MOD_MASK_1.rawValue != 0 { insert(.alt) }
        if state & XCB_MOD_MASK_4.rawValue != 0 { insert(.command) }
    }
}
#endif
