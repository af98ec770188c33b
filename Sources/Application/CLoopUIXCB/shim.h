// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

// What a window of the X server needs, as Swift sees it: the server (xcb), its keyboard (xkbcommon), pictures (Cairo) and
// text (Pango).

#ifndef CXCB_SHIM_H
#define CXCB_SHIM_H

#include <cairo-xcb.h>
#include <cairo.h>
#include <pango/pangocairo.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <xcb/xcb.h>
#include <xcb/xcbext.h>
#include <xcb/xinput.h>
#include <xkbcommon/xkbcommon-compose.h>
#include <xkbcommon/xkbcommon-keysyms.h>
#include <xkbcommon/xkbcommon-x11.h>
#include <xkbcommon/xkbcommon.h>

// A field of this header has the name of a keyword, in C++ and not here.
#include <xcb/xkb.h>

// A key that is held then goes down again and again, and goes up once. False if the server does not offer that.
static inline bool rlx_detect_repeats(xcb_connection_t *connection) {
    const uint32_t flag = XCB_XKB_PER_CLIENT_FLAG_DETECTABLE_AUTO_REPEAT;
    xcb_xkb_per_client_flags_reply_t *reply = xcb_xkb_per_client_flags_reply(
        connection,
        xcb_xkb_per_client_flags(connection, XCB_XKB_ID_USE_CORE_KBD, flag, flag, 0, 0, 0), NULL);
    bool is_on = reply && (reply->value & flag);
    free(reply);
    return is_on;
}

// Has the server report other layouts and other meanings of keys: to a client that knows the extension of keyboards, it
// reports them as events of that extension alone.
static inline void rlx_select_keyboard_changes(xcb_connection_t *connection) {
    const uint16_t events = XCB_XKB_EVENT_TYPE_NEW_KEYBOARD_NOTIFY | XCB_XKB_EVENT_TYPE_MAP_NOTIFY;
    const uint16_t parts = XCB_XKB_MAP_PART_KEY_TYPES | XCB_XKB_MAP_PART_KEY_SYMS | XCB_XKB_MAP_PART_MODIFIER_MAP;
    xcb_xkb_select_events(
        connection, XCB_XKB_ID_USE_CORE_KBD, events, 0, events, parts, parts, NULL);
}

// The number of the extension that reports fingers one by one; 0 if the server has none, or an older one.
static inline uint8_t rlx_touch_extension(xcb_connection_t *connection) {
    const xcb_query_extension_reply_t *extension = xcb_get_extension_data(connection, &xcb_input_id);
    if (!extension || !extension->present) return 0;
    xcb_input_xi_query_version_reply_t *version =
        xcb_input_xi_query_version_reply(connection, xcb_input_xi_query_version(connection, 2, 2), NULL);
    bool is_known = version && (version->major_version > 2 || version->minor_version >= 2);
    free(version);
    return is_known ? extension->major_opcode : 0;
}

// Has the server report fingers on the window. They come no more as the left button then.
static inline void rlx_select_touches(xcb_connection_t *connection, xcb_window_t window) {
    struct {
        xcb_input_event_mask_t head;
        uint32_t mask;
    } events = {
        {XCB_INPUT_DEVICE_ALL_MASTER, 1},
        XCB_INPUT_XI_EVENT_MASK_TOUCH_BEGIN | XCB_INPUT_XI_EVENT_MASK_TOUCH_UPDATE |
            XCB_INPUT_XI_EVENT_MASK_TOUCH_END,
    };
    xcb_input_xi_select_events(connection, window, 1, &events.head);
}

// The extension that counts the frames of screens (Present), as far as it is used here: three requests and one event. Its own
// library would be one more to install.
static xcb_extension_t rlx_present = {"Present", 0};

static inline unsigned rlx_present_request(
    xcb_connection_t *connection, uint8_t opcode, bool is_void, void *request, size_t size) {
    struct iovec parts[4];
    memset(parts, 0, sizeof parts);
    // xcb uses the two before, and fills the head of the request in.
    parts[2].iov_base = request;
    parts[2].iov_len = size;
    const xcb_protocol_request_t info = {.count = 2, .ext = &rlx_present, .opcode = opcode, .isvoid = is_void};
    return xcb_send_request(connection, is_void ? 0 : XCB_REQUEST_CHECKED, parts + 2, &info);
}

// The number of the extension; 0 if the server has none.
static inline uint8_t rlx_present_extension(xcb_connection_t *connection) {
    const xcb_query_extension_reply_t *extension = xcb_get_extension_data(connection, &rlx_present);
    if (!extension || !extension->present) return 0;
    struct {
        uint32_t head, major, minor;
    } request = {0, 1, 0};
    const unsigned number = rlx_present_request(connection, 0, false, &request, sizeof request);
    void *reply = xcb_wait_for_reply(connection, number, NULL);
    const bool is_known = reply != NULL;
    free(reply);
    return is_known ? extension->major_opcode : 0;
}

// Has the server report frames that are asked for.
static inline void rlx_select_frames(xcb_connection_t *connection, xcb_window_t window) {
    struct {
        uint32_t head, event, window, mask;
    } request = {0, xcb_generate_id(connection), window, 1 << 1};
    rlx_present_request(connection, 3, true, &request, sizeof request);
}

// Asks for the report of a frame; of the present one, if that is later.
static inline void rlx_ask_for_frame(xcb_connection_t *connection, xcb_window_t window, uint32_t serial, uint64_t frame) {
    struct {
        uint32_t head, window, serial, unused;
        uint64_t target, divisor, remainder;
    } request = {0, window, serial, 0, frame, 0, 0};
    rlx_present_request(connection, 2, true, &request, sizeof request);
}

// SAFETY: both take pointers that the caller has just received from Pango.
static inline void rlx_unref(void *object) { g_object_unref(object); }
static inline cairo_scaled_font_t *rlx_scaled_font(PangoFont *font) {
    return PANGO_IS_CAIRO_FONT(font) ? pango_cairo_font_get_scaled_font(PANGO_CAIRO_FONT(font)) : NULL;
}

#endif
