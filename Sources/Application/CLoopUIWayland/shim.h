// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

// A Wayland compositor, as Swift sees it: the client library, the interfaces of windows, which that library leaves to generated code, and
// memory that is shared with the compositor.

#ifndef CLOOPUIWAYLAND_SHIM_H
#define CLOOPUIWAYLAND_SHIM_H

#include <errno.h>
#include <linux/memfd.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <wayland-client.h>

// MARK: The interfaces of windows
//
// The names and signatures are those of stable/xdg-shell/xdg-shell.xml at version 1 and of
// unstable/xdg-decoration/xdg-decoration-unstable-v1.xml, both of the package wayland-protocols. A request's or event's number is its
// place in the XML, so each table has all of them. The objects among the arguments need no type: the library looks at a type only where an
// event makes a new object, and none of these does.

static const struct wl_interface *const rlw_no_types[4] = {NULL, NULL, NULL, NULL};

static const struct wl_message rlw_wm_base_requests[] = {
    {"destroy", "", rlw_no_types},
    {"create_positioner", "n", rlw_no_types},
    {"get_xdg_surface", "no", rlw_no_types},
    {"pong", "u", rlw_no_types},
};
static const struct wl_message rlw_wm_base_events[] = {{"ping", "u", rlw_no_types}};
static const struct wl_interface rlw_wm_base = {"xdg_wm_base", 1, 4, rlw_wm_base_requests, 1, rlw_wm_base_events};

static const struct wl_message rlw_xdg_surface_requests[] = {
    {"destroy", "", rlw_no_types},
    {"get_toplevel", "n", rlw_no_types},
    {"get_popup", "n?oo", rlw_no_types},
    {"set_window_geometry", "iiii", rlw_no_types},
    {"ack_configure", "u", rlw_no_types},
};
static const struct wl_message rlw_xdg_surface_events[] = {{"configure", "u", rlw_no_types}};
static const struct wl_interface rlw_xdg_surface = {
    "xdg_surface", 1, 5, rlw_xdg_surface_requests, 1, rlw_xdg_surface_events};

static const struct wl_message rlw_toplevel_requests[] = {
    {"destroy", "", rlw_no_types},
    {"set_parent", "?o", rlw_no_types},
    {"set_title", "s", rlw_no_types},
    {"set_app_id", "s", rlw_no_types},
    {"show_window_menu", "ouii", rlw_no_types},
    {"move", "ou", rlw_no_types},
    {"resize", "ouu", rlw_no_types},
    {"set_max_size", "ii", rlw_no_types},
    {"set_min_size", "ii", rlw_no_types},
    {"set_maximized", "", rlw_no_types},
    {"unset_maximized", "", rlw_no_types},
    {"set_fullscreen", "?o", rlw_no_types},
    {"unset_fullscreen", "", rlw_no_types},
    {"set_minimized", "", rlw_no_types},
};
static const struct wl_message rlw_toplevel_events[] = {
    {"configure", "iia", rlw_no_types},
    {"close", "", rlw_no_types},
};
static const struct wl_interface rlw_toplevel = {
    "xdg_toplevel", 1, 14, rlw_toplevel_requests, 2, rlw_toplevel_events};

static const struct wl_message rlw_decorations_requests[] = {
    {"destroy", "", rlw_no_types},
    {"get_toplevel_decoration", "no", rlw_no_types},
};
static const struct wl_interface rlw_decorations = {
    "zxdg_decoration_manager_v1", 1, 2, rlw_decorations_requests, 0, NULL};

static const struct wl_message rlw_decoration_requests[] = {
    {"destroy", "", rlw_no_types},
    {"set_mode", "u", rlw_no_types},
    {"unset_mode", "", rlw_no_types},
};
static const struct wl_message rlw_decoration_events[] = {{"configure", "u", rlw_no_types}};
static const struct wl_interface rlw_decoration = {
    "zxdg_toplevel_decoration_v1", 1, 3, rlw_decoration_requests, 1, rlw_decoration_events};

// The interface of a name among those that a window uses; NULL for every other name. Programs share the first five, xdg_wm_base and
// zxdg_decoration_manager_v1 by the registry.
static inline const struct wl_interface *rlw_interface(const char *name) {
    const struct wl_interface *const known[] = {
        &wl_compositor_interface,
        &wl_shm_interface,
        &wl_seat_interface,
        &wl_output_interface,
        &wl_data_device_manager_interface,
        &rlw_wm_base,
        &rlw_decorations,
        &rlw_xdg_surface,
        &rlw_toplevel,
        &rlw_decoration,
    };
    for (size_t index = 0; index < sizeof known / sizeof *known; index++)
        if (strcmp(known[index]->name, name) == 0) return known[index];
    return NULL;
}

static inline struct wl_proxy *rlw_get_xdg_surface(struct wl_proxy *base, struct wl_surface *surface) {
    return wl_proxy_marshal_flags(base, 2, &rlw_xdg_surface, 1, 0, NULL, surface);
}
static inline void rlw_pong(struct wl_proxy *base, uint32_t serial) {
    wl_proxy_marshal_flags(base, 3, NULL, 1, 0, serial);
}
static inline struct wl_proxy *rlw_get_toplevel(struct wl_proxy *xdg_surface) {
    return wl_proxy_marshal_flags(xdg_surface, 1, &rlw_toplevel, 1, 0, NULL);
}
static inline void rlw_ack_configure(struct wl_proxy *xdg_surface, uint32_t serial) {
    wl_proxy_marshal_flags(xdg_surface, 4, NULL, 1, 0, serial);
}
static inline void rlw_set_title(struct wl_proxy *toplevel, const char *title) {
    wl_proxy_marshal_flags(toplevel, 2, NULL, 1, 0, title);
}
static inline void rlw_set_app_id(struct wl_proxy *toplevel, const char *name) {
    wl_proxy_marshal_flags(toplevel, 3, NULL, 1, 0, name);
}
static inline void rlw_set_min_size(struct wl_proxy *toplevel, int32_t width, int32_t height) {
    wl_proxy_marshal_flags(toplevel, 8, NULL, 1, 0, width, height);
}
// Has the compositor draw the title bar and the borders (mode 2).
static inline struct wl_proxy *rlw_ask_for_decoration(struct wl_proxy *decorations, struct wl_proxy *toplevel) {
    struct wl_proxy *decoration = wl_proxy_marshal_flags(decorations, 1, &rlw_decoration, 1, 0, NULL, toplevel);
    if (decoration) wl_proxy_marshal_flags(decoration, 1, NULL, 1, 0, 2);
    return decoration;
}
// Destroys an object of one of the interfaces above: the request has the number 0 in all of them.
static inline void rlw_destroy(struct wl_proxy *proxy) {
    wl_proxy_marshal_flags(proxy, 0, NULL, 1, WL_MARSHAL_FLAG_DESTROY);
}

// MARK: Shared memory

// A descriptor of new memory; -1 if there is not that much. The memory exists at once, so that no later write finds it missing.
static inline int rlw_memory(size_t size) {
    int descriptor = (int)syscall(SYS_memfd_create, "LoopUIWindow", MFD_CLOEXEC);
    if (descriptor < 0) return -1;
    int error;
    do error = posix_fallocate(descriptor, 0, (off_t)size);
    while (error == EINTR);
    if (error == 0) return descriptor;
    close(descriptor);
    return -1;
}

#endif
