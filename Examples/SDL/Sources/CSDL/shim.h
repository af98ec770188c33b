// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

// SDL for Swift, and the one thing that SDL does not say: what it waits for.

#ifndef CSDL_SHIM_H
#define CSDL_SHIM_H

#include <SDL.h>
#include <SDL_syswm.h>

// The descriptor at which the X server's events come; -1 where SDL uses something else than X11.
static inline int ex_events_descriptor(SDL_Window *window) {
    SDL_SysWMinfo info;
    SDL_VERSION(&info.version);
    if (!SDL_GetWindowWMInfo(window, &info) || info.subsystem != SDL_SYSWM_X11) return -1;
    return ConnectionNumber(info.info.x11.display);
}

#endif
