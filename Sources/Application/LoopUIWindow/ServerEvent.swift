// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

#if Window
internal import CLoopUIXCB

/// A position in the window, in pixels.
struct Pixel: Hashable {
    var x: Int
    var y: Int
}

/// A rectangle of the window, in pixels.
struct PixelRect: Hashable {
    var x: Int
    var y: Int
    var width: Int
    var height: Int
}

/// The events of the X server that a window asks for.
enum ServerEvent: Hashable {
    /// A button, by the server's number from 1; the numbers 4 to 7 are the wheel.
    case button(Int, isDown: Bool, at: Pixel, state: UInt16)
    /// The pointer has moved while a button is held.
    case pointerMoved(to: Pixel, state: UInt16)
    /// A finger, by the server's number, on a touch screen.
    case touch(UInt32, TouchPhase, at: Pixel, state: UInt16)
    case key(code: UInt8, isDown: Bool, state: UInt16)
    case focus(Bool)
    case resized(width: Int, height: Int)
    /// A part of the window has to be shown again.
    case exposed(PixelRect)
    /// The window is no longer on the screen: closed into an icon, or on another desktop.
    case unmapped
    /// The user wants the window to be closed.
    case closeButton
    /// The window manager asks whether the program still answers.
    case ping
    /// The keys have other meanings from now on.
    case keyboardChanged
    /// The text of a selection that was asked for has come, or cannot come.
    case selection(isThere: Bool)
    /// Another program asks for the text that was copied here.
    case selectionAsked(ServerWindow.Question)
    /// A frame of the screen that was asked for.
    case frame(serial: UInt32, microseconds: UInt64, number: UInt64)
    /// Another program has destroyed the window.
    case destroyed

    /// The change of a finger that is reported.
    enum TouchPhase: Hashable {
        case began
        case moved
        case ended
    }

    /// The numbers of this server for messages of the window manager, for events about keyboards, and of the extension
    /// that reports fingers, which is 0 if there is none.
    struct Numbers: Hashable {
        var protocols: xcb_atom_t
        var deleteWindow: xcb_atom_t
        var ping: xcb_atom_t
        var keyboard: UInt8
        var touches: UInt8
        /// The number of the extension that counts the screen's frames; 0 if there is none.
        var frames: UInt8 = 0
    }

    /// The event of xcb's bytes; nil for an event that the window has not asked for.
    ///
    /// - Parameters:
    ///   - event: The bytes of xcb, 32 at least, and as many more as an extension's event says.
    ///   - numbers: The numbers that the server has given.
    init?(_ event: UnsafeRawPointer, _ numbers: Numbers) {
        // The upper bit says that another client has sent it.
        switch CInt(event.load(as: UInt8.self) & 0x7F) {
        case let type where type == XCB_BUTTON_PRESS || type == XCB_BUTTON_RELEASE:
            // Press and release have the same layout.
            let event = event.load(as: xcb_button_press_event_t.self)
            let place = Pixel(x: Int(event.event_x), y: Int(event.event_y))
            self = .button(Int(event.detail), isDown: type == XCB_BUTTON_PRESS, at: place, state: event.state)
        case XCB_MOTION_NOTIFY:
            let event = event.load(as: xcb_motion_notify_event_t.self)
            self = .pointerMoved(to: Pixel(x: Int(event.event_x), y: Int(event.event_y)), state: event.state)
        case let type where type == XCB_KEY_PRESS || type == XCB_KEY_RELEASE:
            let event = event.load(as: xcb_key_press_event_t.self)
            self = .key(code: event.detail, isDown: type == XCB_KEY_PRESS, state: event.state)
        case let type where type == XCB_FOCUS_IN || type == XCB_FOCUS_OUT:
            let event = event.load(as: xcb_focus_in_event_t.self)
            // A grab, as a window manager's shortcut makes one, moves no attention; nor does the pointer's own focus.
            let isGrab = event.mode == XCB_NOTIFY_MODE_GRAB.rawValue || event.mode == XCB_NOTIFY_MODE_UNGRAB.rawValue
            if isGrab || event.detail == XCB_NOTIFY_DETAIL_POINTER.rawValue { return nil }
            self = .focus(type == XCB_FOCUS_IN)
        case XCB_CONFIGURE_NOTIFY:
            let event = event.load(as: xcb_configure_notify_event_t.self)
            self = .resized(width: Int(event.width), height: Int(event.height))
        case XCB_EXPOSE:
            let event = event.load(as: xcb_expose_event_t.self)
            self = .exposed(
                PixelRect(x: Int(event.x), y: Int(event.y), width: Int(event.width), height: Int(event.height)))
        case XCB_UNMAP_NOTIFY: self = .unmapped
        case XCB_DESTROY_NOTIFY: self = .destroyed
        case XCB_MAPPING_NOTIFY, CInt(numbers.keyboard): self = .keyboardChanged
        case XCB_SELECTION_NOTIFY:
            let event = event.load(as: xcb_selection_notify_event_t.self)
            self = .selection(isThere: event.property != XCB_ATOM_NONE.rawValue)
        case XCB_SELECTION_REQUEST:
            self = .selectionAsked(ServerWindow.Question(event.load(as: xcb_selection_request_event_t.self)))
        case XCB_CLIENT_MESSAGE:
            let event = event.load(as: xcb_client_message_event_t.self)
            guard event.type == numbers.protocols, event.format == 32 else { return nil }
            switch event.data.data32.0 {
            case numbers.deleteWindow: self = .closeButton
            case numbers.ping: self = .ping
            default: return nil
            }
        case XCB_GE_GENERIC:
            // SAFETY: all events of extensions begin so; the type says which structure follows.
            let head = event.load(as: xcb_ge_generic_event_t.self)
            if numbers.frames != 0, head.extension == numbers.frames {
                // Only reports of frames are selected: the second byte of the kind tells them from those of pictures.
                guard head.event_type == 1, event.load(fromByteOffset: 10, as: UInt8.self) == 1 else { return nil }
                // xcb puts a number of its own behind the first 32 bytes.
                self = .frame(
                    serial: event.load(fromByteOffset: 20, as: UInt32.self),
                    microseconds: event.loadUnaligned(fromByteOffset: 24, as: UInt64.self),
                    number: event.loadUnaligned(fromByteOffset: 36, as: UInt64.self))
                return
            }
            guard numbers.touches != 0, head.extension == numbers.touches, let phase = Self.phase(head.event_type)
            else { return nil }
            // The three events have the same layout.
            let event = event.load(as: xcb_input_touch_begin_event_t.self)
            // Whole pixels, of numbers with 16 bits behind the point.
            let place = Pixel(x: Int(event.event_x) >> 16, y: Int(event.event_y) >> 16)
            self = .touch(event.detail, phase, at: place, state: UInt16(truncatingIfNeeded: event.mods.effective))
        default: return nil
        }
    }

    private static func phase(_ type: UInt16) -> TouchPhase? {
        switch CInt(type) {
        case XCB_INPUT_TOUCH_BEGIN: .began
        case XCB_INPUT_TOUCH_UPDATE: .moved
        case XCB_INPUT_TOUCH_END: .ended
        default: nil
        }
    }
}
#endif
