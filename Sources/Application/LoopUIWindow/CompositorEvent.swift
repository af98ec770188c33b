// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

#if Window
internal import CLoopUIWayland
internal import RunLoopsLibC

/// The kinds of objects on a compositor whose events a window handles.
enum CompositorObject: UInt, CaseIterable {
    case registry = 1
    case base
    case surface
    case xdgSurface
    case toplevel
    case buffer
    case callback
    case output
    case seat
    case keyboard
    case pointer
    case touch
    case dataDevice
    case dataOffer
    case dataSource
}

/// The events of a Wayland compositor that a window handles.
///
/// Sizes and positions are those of the surface, which has one pixel for each unit on a screen that does not enlarge.
enum CompositorEvent: Hashable {
    /// The compositor has an object for the program to bind.
    case global(name: UInt32, interface: String, version: UInt32)
    case globalRemoved(name: UInt32)
    /// The compositor asks whether the program still answers.
    case ping(serial: UInt32)
    /// All parts of a new configuration have arrived.
    case configured(serial: UInt32)
    /// A size that the compositor suggests; zero leaves the choice to the program.
    case suggestedSize(width: Int, height: Int)
    /// The user wants the window to be closed.
    case closeButton
    case entered(output: OpaquePointer)
    case left(output: OpaquePointer)
    /// The compositor no longer reads the buffer.
    case released
    /// A callback: what was asked for has happened.
    case done(UInt32)
    /// The time between two frames of an output, in thousandths of a hertz; zero if it has no fixed one.
    case frameRate(Int)
    /// The number of pixels of an output for each unit of a surface, in each direction.
    case scale(Int)
    case seat(SeatEvent)
    case clipboard(ClipboardEvent)

    /// Closes the descriptor of an event that is not handled.
    func discard() {
        switch self {
        case .seat(.keymap(_, let descriptor, _)), .clipboard(.asked(let descriptor)): close(descriptor)
        default: break
        }
    }

    /// Decodes an event; nil for an event that the window does not use.
    ///
    /// A descriptor in the event belongs to the receiver.
    ///
    /// - Parameters:
    ///   - object: The kind of the object that has the event.
    ///   - number: The event's number, which is its place in the interface.
    ///   - arguments: As many arguments as the interface says, which libwayland has checked.
    init?(_ object: CompositorObject, _ number: UInt32, _ arguments: UnsafePointer<wl_argument>) {
        switch (object, number) {
        case (.registry, 0):
            guard let interface = arguments[1].s else { return nil }
            self = .global(name: arguments[0].u, interface: String(cString: interface), version: arguments[2].u)
        case (.registry, 1): self = .globalRemoved(name: arguments[0].u)
        case (.base, 0): self = .ping(serial: arguments[0].u)
        case (.xdgSurface, 0): self = .configured(serial: arguments[0].u)
        case (.toplevel, 0): self = .suggestedSize(width: Int(arguments[0].i), height: Int(arguments[1].i))
        case (.toplevel, 1): self = .closeButton
        case (.surface, 0):
            guard let output = arguments[0].o else { return nil }
            self = .entered(output: output)
        case (.surface, 1):
            guard let output = arguments[0].o else { return nil }
            self = .left(output: output)
        case (.buffer, 0): self = .released
        case (.callback, 0): self = .done(arguments[0].u)
        case (.output, 1):
            guard arguments[0].u & WL_OUTPUT_MODE_CURRENT.rawValue != 0 else { return nil }
            self = .frameRate(Int(arguments[3].i))
        case (.output, 3): self = .scale(Int(arguments[0].i))
        case (.seat, _), (.keyboard, _), (.pointer, _), (.touch, _):
            guard let event = SeatEvent(object, number, arguments) else { return nil }
            self = .seat(event)
        case (.dataDevice, _), (.dataOffer, _), (.dataSource, _):
            guard let event = ClipboardEvent(object, number, arguments) else { return nil }
            self = .clipboard(event)
        default: return nil
        }
    }
}

/// The events of a seat's clipboard and of the offers on it.
enum ClipboardEvent: Hashable {
    /// An offer of another program, whose forms follow.
    case offered(OpaquePointer)
    /// A form in which an offer can be had.
    case form(String)
    /// The offer that is on the clipboard from now on, if there is one.
    case selected(OpaquePointer?)
    /// An offer that is dragged over the window.
    case dragged(OpaquePointer?)
    /// Another program reads from a descriptor, which the receiver of the event writes to and closes.
    case asked(descriptor: CInt)
    /// An offer of this program is no longer on the clipboard.
    case replaced

    init?(_ object: CompositorObject, _ number: UInt32, _ arguments: UnsafePointer<wl_argument>) {
        switch (object, number) {
        case (.dataDevice, 0):
            guard let offer = arguments[0].o else { return nil }
            self = .offered(offer)
        case (.dataDevice, 1): self = .dragged(arguments[4].o)
        case (.dataDevice, 5): self = .selected(arguments[0].o)
        case (.dataOffer, 0):
            guard let form = arguments[0].s else { return nil }
            self = .form(String(cString: form))
        case (.dataSource, 1): self = .asked(descriptor: arguments[1].h)
        case (.dataSource, 2): self = .replaced
        default: return nil
        }
    }
}

/// The events of the keyboard, the pointer and the touch screen of a seat.
enum SeatEvent: Hashable {
    case capabilities(UInt32)
    /// A text that says what keys mean, in a file of which the receiver closes the descriptor.
    case keymap(format: UInt32, descriptor: CInt, size: Int)
    case focus(Bool)
    case key(code: UInt32, isDown: Bool, serial: UInt32)
    case modifiers(bits: UInt32, layout: UInt32)
    /// The number of repeats in a second, and the milliseconds before the first.
    case repeats(rate: Int, delay: Int)
    case pointerEntered(serial: UInt32, at: Pixel)
    case pointerLeft
    case pointerMoved(to: Pixel)
    /// A button, by the kernel's number.
    case button(UInt32, isDown: Bool, serial: UInt32)
    /// A movement of a wheel or of fingers, in pixels.
    case scrolled(ScrollAxis, Double)
    /// The notches that belong to a movement.
    case notches(ScrollAxis, Int)
    /// All events of the pointer that belong together have arrived.
    case pointerFrame
    case touchBegan(Int32, at: Pixel)
    case touchMoved(Int32, to: Pixel)
    case touchEnded(Int32)
    case touchesCancelled

    enum ScrollAxis: Hashable {
        case vertical
        case horizontal
    }

    init?(_ object: CompositorObject, _ number: UInt32, _ arguments: UnsafePointer<wl_argument>) {
        func pixel(_ index: Int) -> Pixel {
            // Whole pixels, of numbers with 8 bits behind the point.
            Pixel(x: Int(arguments[index].f) >> 8, y: Int(arguments[index + 1].f) >> 8)
        }
        func axis(_ index: Int) -> ScrollAxis? {
            switch arguments[index].u {
            case WL_POINTER_AXIS_VERTICAL_SCROLL.rawValue: .vertical
            case WL_POINTER_AXIS_HORIZONTAL_SCROLL.rawValue: .horizontal
            default: nil
            }
        }
        switch (object, number) {
        case (.seat, 0): self = .capabilities(arguments[0].u)
        case (.keyboard, 0):
            self = .keymap(format: arguments[0].u, descriptor: arguments[1].h, size: Int(arguments[2].u))
        case (.keyboard, 1): self = .focus(true)
        case (.keyboard, 2): self = .focus(false)
        case (.keyboard, 3):
            // The kernel's numbers begin 8 below those of the layouts.
            self = .key(
                code: arguments[2].u &+ 8, isDown: arguments[3].u != WL_KEYBOARD_KEY_STATE_RELEASED.rawValue,
                serial: arguments[0].u)
        case (.keyboard, 4):
            self = .modifiers(bits: arguments[1].u | arguments[2].u | arguments[3].u, layout: arguments[4].u)
        case (.keyboard, 5): self = .repeats(rate: Int(arguments[0].i), delay: Int(arguments[1].i))
        case (.pointer, 0): self = .pointerEntered(serial: arguments[0].u, at: pixel(2))
        case (.pointer, 1): self = .pointerLeft
        case (.pointer, 2): self = .pointerMoved(to: pixel(1))
        case (.pointer, 3):
            self = .button(
                arguments[2].u, isDown: arguments[3].u == WL_POINTER_BUTTON_STATE_PRESSED.rawValue,
                serial: arguments[0].u)
        case (.pointer, 4):
            guard let axis = axis(1) else { return nil }
            self = .scrolled(axis, Double(arguments[2].f) / 256)
        case (.pointer, 5): self = .pointerFrame
        case (.pointer, 8):
            guard let axis = axis(0) else { return nil }
            self = .notches(axis, Int(arguments[1].i))
        case (.touch, 0): self = .touchBegan(arguments[3].i, at: pixel(4))
        case (.touch, 1): self = .touchEnded(arguments[2].i)
        case (.touch, 2): self = .touchMoved(arguments[1].i, to: pixel(2))
        case (.touch, 4): self = .touchesCancelled
        default: return nil
        }
    }
}
#endif
