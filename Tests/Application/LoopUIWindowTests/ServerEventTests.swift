// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

#if Window
import CLoopUIXCB
import LoopUI
import Testing

@testable import LoopUIWindow

/// What the server reports, taken apart.
@Suite struct ServerEventTests {
    private let numbers = ServerEvent.Numbers(
        protocols: 100, deleteWindow: 101, ping: 102, keyboard: 85, touches: 131, frames: 148)

    /// The event in a structure of xcb, in a buffer as large as xcb's.
    private func decode<Value>(_ value: Value) -> ServerEvent? {
        withUnsafeTemporaryAllocation(byteCount: 128, alignment: 8) { buffer in
            buffer.initializeMemory(as: UInt8.self, repeating: 0)
            guard let base = buffer.baseAddress else { return nil }
            base.storeBytes(of: value, as: Value.self)
            return ServerEvent(base, numbers)
        }
    }

    @Test func `Button and motion events are decoded with their place and modifier state`() {
        var button = xcb_button_press_event_t()
        button.response_type = UInt8(XCB_BUTTON_PRESS)
        button.detail = 3
        (button.event_x, button.event_y, button.state) = (-5, 17, 4)
        #expect(decode(button) == .button(3, isDown: true, at: Pixel(x: -5, y: 17), state: 4))
        button.response_type = UInt8(XCB_BUTTON_RELEASE)
        #expect(decode(button) == .button(3, isDown: false, at: Pixel(x: -5, y: 17), state: 4))
        var motion = xcb_motion_notify_event_t()
        motion.response_type = UInt8(XCB_MOTION_NOTIFY)
        (motion.event_x, motion.event_y, motion.state) = (8, 9, 256)
        #expect(decode(motion) == .pointerMoved(to: Pixel(x: 8, y: 9), state: 256))
    }

    @Test func `A frame report is decoded with the serial number of its request, its time and its number`() {
        // Head, kind, window and serial number, microseconds, xcb's own number and the frame's.
        func event(kind: UInt64) -> (UInt64, UInt64, UInt64, UInt64, UInt64, UInt64) {
            (35 | 148 << 8, 1 | kind << 16, 9 << 32, 1_000_001, 0xFFFF_FFFF | 70 << 32, 1)
        }
        #expect(
            decode(event(kind: 1)) == .frame(serial: 9, microseconds: 1_000_001, number: 1 << 32 | 70))
        #expect(decode(event(kind: 0)) == nil)
    }

    private func touch(_ type: CInt, _ number: UInt32, x: Double, y: Double) -> xcb_input_touch_begin_event_t {
        var event = xcb_input_touch_begin_event_t()
        event.response_type = UInt8(XCB_GE_GENERIC)
        event.`extension` = 131
        event.event_type = UInt16(type)
        event.detail = number
        (event.event_x, event.event_y) = (Int32(x * 65536), Int32(y * 65536))
        event.mods.effective = 4
        return event
    }

    @Test func `Touch events are decoded with their number, place and modifier state`() {
        let place = Pixel(x: 20, y: -4)
        for (type, phase) in [
            (XCB_INPUT_TOUCH_BEGIN, ServerEvent.TouchPhase.began), (XCB_INPUT_TOUCH_UPDATE, .moved),
            (XCB_INPUT_TOUCH_END, .ended),
        ] {
            #expect(decode(touch(type, 70_000, x: 20.75, y: -3.5)) == .touch(70_000, phase, at: place, state: 4))
        }
        #expect(decode(touch(XCB_INPUT_TOUCH_OWNERSHIP, 1, x: 0, y: 0)) == nil)
        var other = touch(XCB_INPUT_TOUCH_BEGIN, 1, x: 0, y: 0)
        other.`extension` = 130
        #expect(decode(other) == nil)
    }

    @Test func `A touch event is decoded from bytes in the layout of the protocol`() {
        // As in the protocol: type, opcode, sequence, length, event, device, time, number, three windows; xcb puts the
        // whole sequence number in; places, lengths, source, flags, modifiers, group.
        var words = [UInt32](repeating: 0, count: 22)
        words[0] = 35 | 131 << 8
        words[2] = 18 | 2 << 16
        words[4] = 7
        (words[11], words[12]) = (12 << 16 | 0x8000, 34 << 16)
        words[19] = 1
        let event = words.withUnsafeBytes { ServerEvent($0.baseAddress ?? UnsafeRawPointer(bitPattern: 8)!, numbers) }
        #expect(event == .touch(7, .began, at: Pixel(x: 12, y: 34), state: 1))
    }

    @Test func `A key event is decoded with its code, even if another client sent the event`() {
        var key = xcb_key_press_event_t()
        key.response_type = UInt8(XCB_KEY_RELEASE) | 0x80
        (key.detail, key.state) = (38, 1)
        #expect(decode(key) == .key(code: 38, isDown: false, state: 1))
    }

    @Test func `A keyboard grab does not change the focus`() {
        var focus = xcb_focus_in_event_t()
        focus.response_type = UInt8(XCB_FOCUS_IN)
        focus.detail = UInt8(XCB_NOTIFY_DETAIL_NONLINEAR.rawValue)
        #expect(decode(focus) == .focus(true))
        focus.response_type = UInt8(XCB_FOCUS_OUT)
        #expect(decode(focus) == .focus(false))
        for mode in [XCB_NOTIFY_MODE_GRAB, XCB_NOTIFY_MODE_UNGRAB] {
            focus.mode = UInt8(mode.rawValue)
            #expect(decode(focus) == nil)
        }
        focus.mode = 0
        focus.detail = UInt8(XCB_NOTIFY_DETAIL_POINTER.rawValue)
        #expect(decode(focus) == nil)
    }

    @Test func `Resizes, exposures, selections and other changes of the window are decoded`() {
        var configure = xcb_configure_notify_event_t()
        configure.response_type = UInt8(XCB_CONFIGURE_NOTIFY)
        (configure.width, configure.height) = (640, 480)
        #expect(decode(configure) == .resized(width: 640, height: 480))
        var expose = xcb_expose_event_t()
        expose.response_type = UInt8(XCB_EXPOSE)
        (expose.x, expose.y, expose.width, expose.height) = (1, 2, 3, 4)
        #expect(decode(expose) == .exposed(PixelRect(x: 1, y: 2, width: 3, height: 4)))
        var selection = xcb_selection_notify_event_t()
        selection.response_type = UInt8(XCB_SELECTION_NOTIFY)
        #expect(decode(selection) == .selection(isThere: false))
        selection.property = 77
        #expect(decode(selection) == .selection(isThere: true))
        var request = xcb_selection_request_event_t()
        request.response_type = UInt8(XCB_SELECTION_REQUEST)
        (request.requestor, request.selection, request.target, request.property) = (5, 6, 7, 8)
        #expect(decode(request) == .selectionAsked(ServerWindow.Question(request)))
        // An old client means the target where it names no property.
        request.property = 0
        #expect(ServerWindow.Question(request).property == 7)
        for (type, event) in [
            (XCB_UNMAP_NOTIFY, ServerEvent.unmapped), (XCB_DESTROY_NOTIFY, .destroyed),
            (XCB_MAPPING_NOTIFY, .keyboardChanged), (85, .keyboardChanged),
        ] {
            var generic = xcb_generic_event_t()
            generic.response_type = UInt8(type)
            #expect(decode(generic) == event)
        }
    }

    @Test func `Only the client messages of the window manager are decoded`() {
        var message = xcb_client_message_event_t()
        message.response_type = UInt8(XCB_CLIENT_MESSAGE)
        (message.format, message.type) = (32, 100)
        message.data.data32.0 = 101
        #expect(decode(message) == .closeButton)
        message.data.data32.0 = 102
        #expect(decode(message) == .ping)
        message.data.data32.0 = 103
        #expect(decode(message) == nil)
        (message.data.data32.0, message.type) = (101, 99)
        #expect(decode(message) == nil)
        (message.type, message.format) = (100, 8)
        #expect(decode(message) == nil)
    }

    @Test func `Errors and unrequested events are ignored`() {
        for type: UInt8 in [0, 1, 7, 16, 29, 35, 127] {
            var generic = xcb_generic_event_t()
            generic.response_type = type
            #expect(decode(generic) == nil)
        }
    }

    @Test func `The resolution of text is read from the user's X resources`() {
        #expect(ServerWindow.resolution(inResources: "") == 96)
        #expect(ServerWindow.resolution(inResources: "Xcursor.size:\t24\nXft.dpi:\t192\nXft.rgba:\tnone\n") == 192)
        #expect(ServerWindow.resolution(inResources: "Xft.dpi: 109.5") == 109.5)
        #expect(ServerWindow.resolution(inResources: "Xft.dpi:\tnan") == 96)
        #expect(ServerWindow.resolution(inResources: "Xft.dpi:\t0") == 96)
    }
}
#endif
