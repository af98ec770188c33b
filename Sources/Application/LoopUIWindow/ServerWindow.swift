// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

#if Window
internal import CLoopUIXCB
internal import LoopUI
internal import RunLoopsEvents

/// A connection to the X server and the one window on it: all requests to the server, without knowledge of cells.
///
/// Making a window waits for the server's answers. Afterwards only ``takeSelection()`` waits.
final class ServerWindow {
    let connection: OpaquePointer
    let window: xcb_window_t
    let graphics: xcb_gcontext_t
    let numbers: ServerEvent.Numbers
    private let screen: xcb_screen_t
    private let visual: UnsafeMutablePointer<xcb_visualtype_t>
    private let atoms: [String: xcb_atom_t]
    private var isClosed = false

    /// Connects to the server that the environment names.
    ///
    /// - Parameter display: The server's name; the value of `DISPLAY` if `nil`.
    static func connect(to display: String?) throws(WindowDisplayError) -> (connection: OpaquePointer, screen: Int) {
        var number: CInt = 0
        let name = display ?? environmentValue("DISPLAY") ?? ""
        guard let connection = xcb_connect(display, &number), xcb_connection_has_error(connection) == 0 else {
            // The connection stays allocated until the end of the program; so does one that is disconnected in error.
            throw .noServer(display: name)
        }
        return (connection, Int(number))
    }

    /// Makes a window that is not shown yet; the window owns the connection from now on.
    ///
    /// - Parameters:
    ///   - connection: The connection.
    ///   - number: The number of the screen.
    ///   - size: The size of the window, in pixels.
    ///   - cell: The size of a cell, in pixels: the step in which the user changes the window's size.
    ///   - background: The colour of areas that were not drawn yet.
    ///   - program: The name that window managers know the program by.
    ///   - keyboardEvent: The number of the server's events about keyboards.
    init(
        _ connection: OpaquePointer, screen number: Int, size: Size, cell: Size, background: WindowTheme.RGB,
        program: String, keyboardEvent: UInt8
    ) throws(WindowDisplayError) {
        let setup = xcb_get_setup(connection)
        var screens = xcb_setup_roots_iterator(setup)
        for _ in 0..<number where screens.rem > 1 { xcb_screen_next(&screens) }
        guard let screen = screens.data, let visual = Self.visual(of: screen) else {
            xcb_disconnect(connection)
            throw .noTrueColor
        }
        self.connection = connection
        self.screen = screen.pointee
        self.visual = visual
        atoms = Self.atoms(
            connection,
            [
                "WM_PROTOCOLS", "WM_DELETE_WINDOW", "_NET_WM_PING", "_NET_WM_NAME", "UTF8_STRING", "CLIPBOARD",
                "LOOPUI_SELECTION", "TARGETS",
            ])
        numbers = ServerEvent.Numbers(
            protocols: atoms["WM_PROTOCOLS"] ?? 0, deleteWindow: atoms["WM_DELETE_WINDOW"] ?? 0,
            ping: atoms["_NET_WM_PING"] ?? 0, keyboard: keyboardEvent, touches: rlx_touch_extension(connection),
            frames: rlx_present_extension(connection))
        window = xcb_generate_id(connection)
        graphics = xcb_generate_id(connection)
        create(size, background)
        describe(size, cell, program)
    }

    private func create(_ size: Size, _ background: WindowTheme.RGB) {
        // What the window was not asked to draw yet has the ground's colour, and what is there stays where it is.
        let mask = XCB_CW_BACK_PIXEL.rawValue | XCB_CW_BIT_GRAVITY.rawValue | XCB_CW_EVENT_MASK.rawValue
        let events = [
            XCB_EVENT_MASK_KEY_PRESS, XCB_EVENT_MASK_KEY_RELEASE, XCB_EVENT_MASK_BUTTON_PRESS,
            XCB_EVENT_MASK_BUTTON_RELEASE, XCB_EVENT_MASK_BUTTON_MOTION, XCB_EVENT_MASK_EXPOSURE,
            XCB_EVENT_MASK_STRUCTURE_NOTIFY, XCB_EVENT_MASK_FOCUS_CHANGE,
        ].reduce(0) { $0 | $1.rawValue }
        let values = [pixel(background), XCB_GRAVITY_NORTH_WEST.rawValue, events]
        xcb_create_window(
            connection, screen.root_depth, window, screen.root, 0, 0, UInt16(size.width), UInt16(size.height), 0,
            UInt16(XCB_WINDOW_CLASS_INPUT_OUTPUT.rawValue), screen.root_visual, mask, values)
        if numbers.touches != 0 { rlx_select_touches(connection, window) }
        // Copies of the picture report no further exposures.
        xcb_create_gc(connection, graphics, window, XCB_GC_GRAPHICS_EXPOSURES.rawValue, [0])
    }

    private func describe(_ size: Size, _ cell: Size, _ program: String) {
        set(numbers.protocols, XCB_ATOM_ATOM.rawValue, [numbers.deleteWindow, numbers.ping])
        set(XCB_ATOM_WM_CLASS.rawValue, XCB_ATOM_STRING.rawValue, Array("\(program)\0\(program)\0".utf8))
        // ICCCM's WM_SIZE_HINTS: a smallest size (16), steps (64) and what they start from (256).
        var hints = [UInt32](repeating: 0, count: 18)
        hints[0] = 16 | 64 | 256
        (hints[5], hints[6]) = (UInt32(cell.width), UInt32(cell.height))
        (hints[9], hints[10]) = (UInt32(cell.width), UInt32(cell.height))
        set(XCB_ATOM_WM_NORMAL_HINTS.rawValue, XCB_ATOM_WM_SIZE_HINTS.rawValue, hints)
    }

    /// The window's visual, if it has eight bits for each of red, green and blue.
    private static func visual(
        of screen: UnsafeMutablePointer<xcb_screen_t>
    ) -> UnsafeMutablePointer<xcb_visualtype_t>? {
        var depths = xcb_screen_allowed_depths_iterator(screen)
        while depths.rem > 0 {
            var visuals = xcb_depth_visuals_iterator(depths.data)
            while visuals.rem > 0 {
                if let visual = visuals.data, visual.pointee.visual_id == screen.pointee.root_visual {
                    let masks = [visual.pointee.red_mask, visual.pointee.green_mask, visual.pointee.blue_mask]
                    return masks.allSatisfy { $0.nonzeroBitCount == 8 } ? visual : nil
                }
                xcb_visualtype_next(&visuals)
            }
            xcb_depth_next(&depths)
        }
        return nil
    }

    /// Returns the server's numbers of names, which are asked for all at once.
    private static func atoms(_ connection: OpaquePointer, _ names: [String]) -> [String: xcb_atom_t] {
        let cookies = names.map { xcb_intern_atom(connection, 0, UInt16($0.utf8.count), $0) }
        var atoms: [String: xcb_atom_t] = [:]
        for (name, cookie) in zip(names, cookies) {
            guard let reply = xcb_intern_atom_reply(connection, cookie, nil) else { continue }
            atoms[name] = reply.pointee.atom
            free(reply)
        }
        return atoms
    }

    private func pixel(_ color: WindowTheme.RGB) -> UInt32 {
        func part(_ value: UInt8, _ mask: UInt32) -> UInt32 { UInt32(value) << UInt32(mask.trailingZeroBitCount) }
        return part(color.red, visual.pointee.red_mask) | part(color.green, visual.pointee.green_mask)
            | part(color.blue, visual.pointee.blue_mask)
    }

    // MARK: Properties

    /// Returns the server's number of a name.
    func atom(_ name: String) -> xcb_atom_t { atoms[name] ?? 0 }

    private func set(_ property: xcb_atom_t, _ type: xcb_atom_t, _ values: [UInt32]) {
        xcb_change_property(
            connection, UInt8(XCB_PROP_MODE_REPLACE.rawValue), window, property, type, 32, UInt32(values.count), values)
    }

    private func set(_ property: xcb_atom_t, _ type: xcb_atom_t, _ bytes: [UInt8]) {
        xcb_change_property(
            connection, UInt8(XCB_PROP_MODE_REPLACE.rawValue), window, property, type, 8, UInt32(bytes.count), bytes)
    }

    /// Sets the title, for old and new window managers.
    func setTitle(_ title: String) {
        for name in [XCB_ATOM_WM_NAME.rawValue, atom("_NET_WM_NAME")] {
            set(name, atom("UTF8_STRING"), Array(title.shown(limit: 256).utf8))
        }
    }

    /// Sets or removes the hint that the window wants the user's attention: ICCCM's WM_HINTS with the flag 256.
    func setUrgent(_ isUrgent: Bool) {
        let hints = [isUrgent ? 256 : 0] + [UInt32](repeating: 0, count: 8)
        set(XCB_ATOM_WM_HINTS.rawValue, XCB_ATOM_WM_HINTS.rawValue, hints)
    }

    /// Returns the number of pixels in an inch that the user has set for text; 96 if none is set.
    static func resolution(_ connection: OpaquePointer, screen number: Int) -> Double {
        var screens = xcb_setup_roots_iterator(xcb_get_setup(connection))
        for _ in 0..<number where screens.rem > 1 { xcb_screen_next(&screens) }
        guard let root = screens.data?.pointee.root else { return 96 }
        let cookie = xcb_get_property(
            connection, 0, root, XCB_ATOM_RESOURCE_MANAGER.rawValue, XCB_ATOM_STRING.rawValue, 0, 16384)
        guard let reply = xcb_get_property_reply(connection, cookie, nil) else { return 96 }
        defer { free(reply) }
        let bytes = UnsafeRawBufferPointer(
            start: xcb_get_property_value(reply), count: Int(xcb_get_property_value_length(reply)))
        return resolution(inResources: String(decoding: bytes, as: UTF8.self))
    }

    /// Returns the value of `Xft.dpi` in a text of resources; 96 if there is no valid value.
    static func resolution(inResources text: String) -> Double {
        for line in text.split(separator: "\n") where line.hasPrefix("Xft.dpi:") {
            let value = line.dropFirst("Xft.dpi:".count).drop { $0 == " " || $0 == "\t" }
            if let dots = Double(value), (20...2000).contains(dots) { return dots }
        }
        return 96
    }

    // MARK: Pictures

    /// Makes a picture on the server, and Cairo's drawing context for it.
    func makePicture(width: Int, height: Int) -> ServerPicture {
        let pixmap = xcb_generate_id(connection)
        xcb_create_pixmap(connection, screen.root_depth, pixmap, window, UInt16(width), UInt16(height))
        return ServerPicture(connection, pixmap, visual, width: width, height: height)
    }

    /// Shows a part of a picture.
    func show(_ area: PixelRect, of picture: ServerPicture) {
        xcb_copy_area(
            connection, picture.pixmap, window, graphics, Int16(clamping: area.x), Int16(clamping: area.y),
            Int16(clamping: area.x), Int16(clamping: area.y), UInt16(clamping: area.width),
            UInt16(clamping: area.height))
    }

    /// Shows the window.
    func map() { xcb_map_window(connection, window) }

    /// Sends the requests that wait to be sent.
    func flush() { xcb_flush(connection) }

    // MARK: Events

    /// Whether the connection to the server is broken.
    var isBroken: Bool { xcb_connection_has_error(connection) != 0 }

    /// Returns the next event that has arrived; nil if there is none.
    ///
    /// - Parameter isReading: Whether to read from the server too.
    func takeEvent(isReading: Bool) -> ServerEvent? {
        while let event = isReading ? xcb_poll_for_event(connection) : xcb_poll_for_queued_event(connection) {
            defer { free(event) }
            let decoded = ServerEvent(event, numbers)
            if decoded == .ping { answerPing(event) }
            if let decoded { return decoded }
        }
        return nil
    }

    /// Answers the window manager's question whether the program lives, with the same message.
    private func answerPing(_ event: UnsafeMutablePointer<xcb_generic_event_t>) {
        event.withMemoryRebound(to: xcb_client_message_event_t.self, capacity: 1) { message in
            message.pointee.window = screen.root
            let mask = XCB_EVENT_MASK_SUBSTRUCTURE_NOTIFY.rawValue | XCB_EVENT_MASK_SUBSTRUCTURE_REDIRECT.rawValue
            _ = message.withMemoryRebound(to: CChar.self, capacity: 32) {
                xcb_send_event(connection, 0, screen.root, mask, $0)
            }
        }
        flush()
    }

    /// Asks for an answer that comes when the server has done everything before.
    func askForAnswer() -> UInt32 { xcb_get_input_focus(connection).sequence }

    /// Whether the answer has come; does not wait.
    func hasAnswer(_ number: UInt32) -> Bool {
        var reply: UnsafeMutableRawPointer?
        var error: UnsafeMutablePointer<xcb_generic_error_t>?
        guard xcb_poll_for_reply(connection, number, &reply, &error) == 1 else { return false }
        free(reply)
        free(error)
        return true
    }

    // MARK: Frames of the screen

    /// Has the server report frames that are asked for.
    func selectFrames() { rlx_select_frames(connection, window) }

    /// Asks for the report of a frame, or of the present one if that is later.
    func askForFrame(_ number: UInt64, serial: UInt32) {
        rlx_ask_for_frame(connection, window, serial, number)
        flush()
    }

    // MARK: The end

    /// Destroys the window and leaves the server; a second call does nothing.
    func close() {
        if isClosed { return }
        isClosed = true
        xcb_destroy_window(connection, window)
        xcb_flush(connection)
        xcb_disconnect(connection)
    }
}

/// A picture on the server, which is copied to the window, so that the user never sees a half-drawn frame.
final class ServerPicture {
    let pixmap: xcb_pixmap_t
    let width: Int
    let height: Int
    /// Cairo's drawing context.
    let drawing: OpaquePointer
    private let connection: OpaquePointer
    private let surface: OpaquePointer

    fileprivate init(
        _ connection: OpaquePointer, _ pixmap: xcb_pixmap_t, _ visual: UnsafeMutablePointer<xcb_visualtype_t>,
        width: Int, height: Int
    ) {
        self.connection = connection
        self.pixmap = pixmap
        self.width = width
        self.height = height
        // Neither is ever nil: without memory, Cairo gives objects that do nothing.
        surface = cairo_xcb_surface_create(connection, pixmap, visual, CInt(width), CInt(height))
        drawing = cairo_create(surface)
    }

    /// Makes Cairo pass all that was drawn to xcb.
    func finishDrawing() { cairo_surface_flush(surface) }

    /// Frees the picture; with `isLast`, also frees the data that Cairo keeps of the connection.
    func free(isLast: Bool) {
        cairo_destroy(drawing)
        if isLast { cairo_device_finish(cairo_surface_get_device(surface)) }
        cairo_surface_finish(surface)
        cairo_surface_destroy(surface)
        if !isLast { xcb_free_pixmap(connection, pixmap) }
    }
}
#endif
