// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

#if Window
internal import CLoopUIXCB
internal import LoopUI
internal import RunLoopsEvents

/// The keyboard: which key a code means, with the layout that the user has chosen and dead keys.
final class Keyboard {
    /// The number of the server's events about keyboards.
    private(set) var event: UInt8 = 0
    private let context: OpaquePointer
    private var keymap: OpaquePointer
    private var state: OpaquePointer
    /// Joins dead keys with the key after them; nil if the locale has no table for this.
    private let compose: OpaquePointer?
    /// The keys that are down, by their codes, each as it was when it went down: letting go of shift first does not
    /// change them.
    private var held: [UInt32: Key] = [:]

    /// Makes the keyboard of a server.
    ///
    /// Has the server repeat keys that are held without reporting that they go up in between, and report other layouts.
    convenience init(_ connection: OpaquePointer) throws(WindowDisplayError) {
        var event: UInt8 = 0
        let isThere = xkb_x11_setup_xkb_extension(
            connection, UInt16(XKB_X11_MIN_MAJOR_XKB_VERSION), UInt16(XKB_X11_MIN_MINOR_XKB_VERSION),
            XKB_X11_SETUP_XKB_EXTENSION_NO_FLAGS, nil, nil, &event, nil)
        guard isThere == 1 else { throw .noKeyboard }
        _ = rlx_detect_repeats(connection)
        rlx_select_keyboard_changes(connection)
        try self.init { Self.keymap(of: connection, in: $0) }
        self.event = event
    }

    /// Makes a keyboard with the layout of a name, without a server.
    convenience init(layout: String) throws(WindowDisplayError) {
        try self.init { context in
            layout.withCString { layout in
                var names = xkb_rule_names()
                names.layout = layout
                return xkb_keymap_new_from_names(context, &names, XKB_KEYMAP_COMPILE_NO_FLAGS)
            }
        }
    }

    /// Makes a keyboard whose keys have the meanings that a text says, without a server.
    convenience init(keymap text: [UInt8]) throws(WindowDisplayError) {
        try self.init { Self.keymap(of: text, in: $0) }
    }

    private init(_ makeKeymap: (OpaquePointer) -> OpaquePointer?) throws(WindowDisplayError) {
        guard let context = xkb_context_new(XKB_CONTEXT_NO_FLAGS) else { throw .noKeyboard }
        guard let keymap = makeKeymap(context), let state = xkb_state_new(keymap) else {
            xkb_context_unref(context)
            throw .noKeyboard
        }
        self.context = context
        self.keymap = keymap
        self.state = state
        let variables = ["LC_ALL", "LC_CTYPE", "LANG"]
        let locale = variables.lazy.compactMap { environmentValue($0) }.first { !$0.isEmpty }
        let table = xkb_compose_table_new_from_locale(context, locale ?? "C", XKB_COMPOSE_COMPILE_NO_FLAGS)
        compose = table.flatMap { xkb_compose_state_new($0, XKB_COMPOSE_STATE_NO_FLAGS) }
        // The state keeps the table.
        xkb_compose_table_unref(table)
    }

    deinit {
        xkb_compose_state_unref(compose)
        xkb_state_unref(state)
        xkb_keymap_unref(keymap)
        xkb_context_unref(context)
    }

    private static func keymap(of connection: OpaquePointer, in context: OpaquePointer) -> OpaquePointer? {
        let device = xkb_x11_get_core_keyboard_device_id(connection)
        return xkb_x11_keymap_new_from_device(context, connection, device, XKB_KEYMAP_COMPILE_NO_FLAGS)
    }

    private static func keymap(of text: [UInt8], in context: OpaquePointer) -> OpaquePointer? {
        text.withUnsafeBytes { bytes in
            xkb_keymap_new_from_buffer(
                context, bytes.baseAddress?.assumingMemoryBound(to: CChar.self), bytes.count, XKB_KEYMAP_FORMAT_TEXT_V1,
                XKB_KEYMAP_COMPILE_NO_FLAGS)
        }
    }

    /// Reads the meanings of keys from the server again; keeps the old meanings if the server does not answer.
    func reload(_ connection: OpaquePointer) { replace(Self.keymap(of: connection, in: context)) }

    /// Takes the meanings of keys from a text; keeps the old meanings if the text is not valid.
    func reload(keymap text: [UInt8]) { replace(Self.keymap(of: text, in: context)) }

    private func replace(_ keymap: OpaquePointer?) {
        guard let keymap else { return }
        guard let state = xkb_state_new(keymap) else { return xkb_keymap_unref(keymap) }
        xkb_state_unref(self.state)
        xkb_keymap_unref(self.keymap)
        (self.keymap, self.state) = (keymap, state)
    }

    /// Forgets the keys that are held, because their ends will not be reported.
    func forgetHeld() {
        held = [:]
        if let compose { xkb_compose_state_reset(compose) }
    }

    /// Whether a key repeats while it is held.
    func repeats(_ code: UInt32) -> Bool { xkb_keymap_key_repeats(keymap, code) == 1 }

    // MARK: Input

    /// Returns the input of a key that goes down or up; nil for keys that write nothing by themselves.
    ///
    /// - Parameters:
    ///   - code: The server's number of the key.
    ///   - isDown: Whether it goes down.
    ///   - bits: The modifiers and the layout, as in the server's event.
    func input(code: UInt32, isDown: Bool, state bits: UInt16) -> KeyInput? {
        // Bits 13 and 14 are the layout.
        xkb_state_update_mask(state, UInt32(bits & 0xFF), 0, 0, 0, 0, UInt32(bits >> 13) & 3)
        if !isDown {
            return held.removeValue(forKey: code).map {
                KeyInput($0, modifiers: modifiers(bits, code, $0), phase: .ended)
            }
        }
        if let key = held[code] { return KeyInput(key, modifiers: modifiers(bits, code, key), phase: .repeated) }
        guard let key = key(code, bits) else { return nil }
        held[code] = key
        return KeyInput(key, modifiers: modifiers(bits, code, key))
    }

    private func key(_ code: UInt32, _ bits: UInt16) -> Key? {
        let symbol = xkb_state_key_get_one_sym(state, code)
        if let compose, xkb_compose_state_feed(compose, symbol) == XKB_COMPOSE_FEED_ACCEPTED {
            switch xkb_compose_state_get_status(compose) {
            case XKB_COMPOSE_COMPOSING: return nil
            case XKB_COMPOSE_CANCELLED:
                xkb_compose_state_reset(compose)
                return nil
            case XKB_COMPOSE_COMPOSED: return composed(compose)
            default: break
            }
        }
        let key = Key(keysym: symbol)
        if case .character(let character)? = key, !character.isASCII, UInt32(bits) & XCB_MOD_MASK_CONTROL.rawValue != 0
        {
            // Shortcuts are named in Latin letters: with another layout, the key counts that has one on it.
            return latin(code) ?? key
        }
        return key
    }

    /// Returns the key of a finished sequence, and begins a new sequence.
    private func composed(_ compose: OpaquePointer) -> Key? {
        defer { xkb_compose_state_reset(compose) }
        var bytes = [CChar](repeating: 0, count: 64)
        let count = Int(xkb_compose_state_get_utf8(compose, &bytes, bytes.count))
        let text = String(decoding: bytes.prefix(max(0, min(count, 63))).map { UInt8(bitPattern: $0) }, as: UTF8.self)
        if text.count == 1, let character = text.first { return .character(character) }
        return Key(keysym: xkb_compose_state_get_one_sym(compose))
    }

    private func latin(_ code: UInt32) -> Key? {
        for layout in 0..<xkb_keymap_num_layouts_for_key(keymap, code) {
            var symbols: UnsafePointer<xkb_keysym_t>?
            guard xkb_keymap_key_get_syms_by_level(keymap, code, layout, 0, &symbols) == 1, let symbols else {
                continue
            }
            if case .character(let character)? = Key(keysym: symbols[0]), character.isASCII {
                return .character(character)
            }
        }
        return nil
    }

    private func modifiers(_ bits: UInt16, _ code: UInt32, _ key: Key) -> KeyModifiers {
        var modifiers = KeyModifiers(state: bits)
        let shift = xkb_keymap_mod_get_index(keymap, XKB_MOD_NAME_SHIFT)
        if case .character = key,
            xkb_state_mod_index_is_consumed2(state, code, shift, XKB_CONSUMED_MODE_GTK) == 1
        {
            modifiers.remove(.shift)
        }
        return modifiers
    }
}
#endif
