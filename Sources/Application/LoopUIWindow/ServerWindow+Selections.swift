// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

#if Window
internal import CLoopUIXCB

/// Text that programs hand to each other through the server: one program owns the text, and others ask for it.
extension ServerWindow {
    // MARK: Taking

    /// Asks the owner of a selection for its text; ``ServerEvent/selection(isThere:)`` answers.
    func ask(for selection: PasteShortcut.Selection) {
        let name = selection == .clipboard ? atom("CLIPBOARD") : XCB_ATOM_PRIMARY.rawValue
        xcb_convert_selection(
            connection, window, name, atom("UTF8_STRING"), atom("LOOPUI_SELECTION"), xcb_timestamp_t(XCB_CURRENT_TIME))
        flush()
    }

    /// The maximum number of bytes that are read of a selection.
    private static var longest: Int { 4 << 20 }

    /// Returns the text that has come; nil if there is none, or if the owner sends the text in parts, which is not
    /// supported.
    func takeSelection() -> String? {
        let cookie = xcb_get_property(
            connection, 1, window, atom("LOOPUI_SELECTION"), XCB_GET_PROPERTY_TYPE_ANY.rawValue, 0,
            UInt32(Self.longest / 4))
        guard let reply = xcb_get_property_reply(connection, cookie, nil) else { return nil }
        defer { free(reply) }
        guard reply.pointee.type == atom("UTF8_STRING") else { return nil }
        let bytes = UnsafeRawBufferPointer(
            start: xcb_get_property_value(reply), count: Int(xcb_get_property_value_length(reply)))
        return String(decoding: bytes, as: UTF8.self)
    }

    // MARK: Giving

    /// A request of another program for the text that this window owns.
    struct Question: Hashable {
        let asker: xcb_window_t
        let selection: xcb_atom_t
        let target: xcb_atom_t
        let property: xcb_atom_t
        let time: xcb_timestamp_t

        init(_ event: xcb_selection_request_event_t) {
            asker = event.requestor
            selection = event.selection
            target = event.target
            // Very old clients name no property; the target is meant then.
            property = event.property == 0 ? event.target : event.property
            time = event.time
        }
    }

    /// Makes this window the owner of the clipboard: other programs ask it for the text that was copied.
    func ownClipboard() {
        xcb_set_selection_owner(connection, window, atom("CLIPBOARD"), xcb_timestamp_t(XCB_CURRENT_TIME))
        flush()
    }

    /// Answers a request; refuses it if there is no text, if the text is longer than the server takes at once, or if
    /// another form is asked for.
    func answer(_ question: Question, with text: String?) {
        var answer = xcb_selection_notify_event_t()
        answer.response_type = UInt8(XCB_SELECTION_NOTIFY)
        answer.requestor = question.asker
        (answer.selection, answer.target, answer.time) = (question.selection, question.target, question.time)
        if let text, give(text, question) { answer.property = question.property }
        withUnsafeBytes(of: answer) { bytes in
            // The server reads 32 bytes; the structure has fewer.
            var message = [CChar](repeating: 0, count: 32)
            for (index, byte) in bytes.prefix(32).enumerated() { message[index] = CChar(bitPattern: byte) }
            xcb_send_event(connection, 0, question.asker, 0, message)
        }
        flush()
    }

    private func give(_ text: String, _ question: Question) -> Bool {
        let mode = UInt8(XCB_PROP_MODE_REPLACE.rawValue)
        if question.target == atom("TARGETS") {
            let targets = [atom("TARGETS"), atom("UTF8_STRING")]
            xcb_change_property(
                connection, mode, question.asker, question.property, XCB_ATOM_ATOM.rawValue, 32, UInt32(targets.count),
                targets)
            return true
        }
        let bytes = Array(text.utf8)
        let room = Int(xcb_get_maximum_request_length(connection)) * 4 - 64
        guard question.target == atom("UTF8_STRING"), bytes.count <= room else { return false }
        xcb_change_property(
            connection, mode, question.asker, question.property, question.target, 8, UInt32(bytes.count), bytes)
        return true
    }
}
#endif
