// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

#if Window
internal import CLoopUIXCB
internal import LoopUI

extension Key {
    /// The key of a symbol of the X keyboard; nil for keys that only change what others mean.
    init?(keysym: UInt32) {
        switch Int32(bitPattern: keysym) {
        case XKB_KEY_Return, XKB_KEY_KP_Enter: self = .enter
        case XKB_KEY_Tab, XKB_KEY_KP_Tab, XKB_KEY_ISO_Left_Tab: self = .tab
        case XKB_KEY_Escape: self = .escape
        case XKB_KEY_BackSpace: self = .backspace
        case XKB_KEY_Delete, XKB_KEY_KP_Delete: self = .delete
        case XKB_KEY_Insert, XKB_KEY_KP_Insert: self = .insert
        case XKB_KEY_Up, XKB_KEY_KP_Up: self = .up
        case XKB_KEY_Down, XKB_KEY_KP_Down: self = .down
        case XKB_KEY_Left, XKB_KEY_KP_Left: self = .left
        case XKB_KEY_Right, XKB_KEY_KP_Right: self = .right
        case XKB_KEY_Home, XKB_KEY_KP_Home: self = .home
        case XKB_KEY_End, XKB_KEY_KP_End: self = .end
        case XKB_KEY_Page_Up, XKB_KEY_KP_Page_Up: self = .pageUp
        case XKB_KEY_Page_Down, XKB_KEY_KP_Page_Down: self = .pageDown
        case XKB_KEY_F1...XKB_KEY_F35: self = .function(Int(keysym) - Int(XKB_KEY_F1) + 1)
        case XKB_KEY_NoSymbol, XKB_KEY_Shift_L...XKB_KEY_Hyper_R, XKB_KEY_ISO_Lock...XKB_KEY_ISO_Level5_Lock,
            XKB_KEY_dead_grave...XKB_KEY_dead_greek, XKB_KEY_Multi_key, XKB_KEY_Mode_switch, XKB_KEY_Num_Lock,
            XKB_KEY_Scroll_Lock:
            return nil
        default:
            let scalar = Unicode.Scalar(xkb_keysym_to_utf32(keysym))
            if let scalar, scalar.value >= 0x20, scalar.value != 0x7F {
                self = .character(Character(scalar))
            } else {
                self = .other(Int(keysym))
            }
        }
    }
}
#endif
