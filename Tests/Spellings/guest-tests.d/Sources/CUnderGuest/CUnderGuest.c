// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

// Core Foundation's three calls that run and stop a loop, in a library that is loaded before Foundation: on the main thread they run
// and stop this package's main loop. So a wait of Foundation's, of XCTest's or of a test's own is a run of this package's loop, and
// all that Foundation's loop has is served in it by RunLoopsFoundation or not at all.

#define _GNU_SOURCE

#include "CUnderGuest.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <unistd.h>

typedef const void *object;
extern object CFRunLoopGetMain(void);
extern object kCFRunLoopDefaultMode;

static void *library(void *address) {
    Dl_info info;
    return dladdr(address, &info) != 0 ? info.dli_fbase : NULL;
}

// The calls of RunLoopsFoundation, which is in this library, and all calls of other threads stay Core Foundation's.
static bool is_for_guest(void *caller) { return gettid() == getpid() && library(caller) != library((void *)is_for_guest); }

int32_t CFRunLoopRunInMode(object mode, double seconds, unsigned char returns_after_source) {
    if (is_for_guest(__builtin_return_address(0))) return under_guest_run(mode, seconds, returns_after_source);
    int32_t (*original)(object, double, unsigned char) = dlsym(RTLD_NEXT, "CFRunLoopRunInMode");
    return original(mode, seconds, returns_after_source);
}

void CFRunLoopRun(void) {
    if (!is_for_guest(__builtin_return_address(0))) {
        void (*original)(void) = dlsym(RTLD_NEXT, "CFRunLoopRun");
        original();
        return;
    }
    int32_t result;
    do {
        result = under_guest_run(kCFRunLoopDefaultMode, 1e10, false);
    } while (result != 1 && result != 2);
}

void CFRunLoopStop(object loop) {
    if (loop == CFRunLoopGetMain() && library(__builtin_return_address(0)) != library((void *)is_for_guest)) {
        under_guest_stop();
        return;
    }
    void (*original)(object) = dlsym(RTLD_NEXT, "CFRunLoopStop");
    original(loop);
}

// Not in the children of a test.
__attribute__((constructor)) static void loaded(void) {
    unsetenv("LD_PRELOAD");
    atexit(under_guest_report);
}
