// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

// The declarations that Swift takes from C: the mode as a type of its own, and contexts that name it. C programs include
// CoreFoundationRunLoop.h instead.
//
// No C file of this target includes this header: only the importer of Swift finds the headers of Core Foundation by itself.

#ifndef C_CORE_FOUNDATION_RUN_LOOP_H
#define C_CORE_FOUNDATION_RUN_LOOP_H

#include <CoreFoundation/CoreFoundation.h>

CF_EXTERN_C_BEGIN

#pragma mark Modes

/// The name of a mode that a run loop can run in.
///
/// As on Apple's systems, and unlike in the toolchain's header for Linux, the name is a type of its own in Swift.
typedef CFStringRef RLRunLoopMode __attribute__((swift_name("CFRunLoopMode"), swift_wrapper(struct)))
    __attribute__((swift_attr("@Sendable")));

#pragma mark Contexts

/// The functions that a loop calls for a source of version 0.
///
/// `info` is the parameter of every function. Only `perform` must be there.
typedef struct {
    CFIndex version;
    void *info;
    const void *(*retain)(const void *info);
    void (*release)(const void *info);
    CFStringRef (*copyDescription)(const void *info);
    Boolean (*equal)(const void *info1, const void *info2);
    CFHashCode (*hash)(const void *info);
    void (*schedule)(void *info, CFRunLoopRef rl, RLRunLoopMode mode);
    void (*cancel)(void *info, CFRunLoopRef rl, RLRunLoopMode mode);
    void (*perform)(void *info);
} RLRunLoopSourceContext;

/// The functions that a loop calls for a source of version 1, whose port is a file descriptor.
///
/// The loop calls `getPort` once, when the source is first added to a loop. It calls `perform` once a turn for as long
/// as the descriptor is readable: `perform` reads what is there. `msg` is `NULL` and `size` is 0, because a descriptor
/// brings no message. `perform` returns `NULL`, or a reply: a `CFDataRef` that the loop owns from then on, writes to the
/// descriptor, and releases.
typedef struct {
    CFIndex version;
    void *info;
    const void *(*retain)(const void *info);
    void (*release)(const void *info);
    CFStringRef (*copyDescription)(const void *info);
    Boolean (*equal)(const void *info1, const void *info2);
    CFHashCode (*hash)(const void *info);
    int (*getPort)(void *info);
    void *(*perform)(void *msg, CFIndex size, CFAllocatorRef allocator, void *info);
} RLRunLoopSourceContext1;

#pragma mark Modes, compared

/// 0 for the default mode's own name, 1 for the common modes', and -1 for any other object.
static inline int rl_known_mode(const void *name) {
    return name == kCFRunLoopDefaultMode ? 0 : name == kCFRunLoopCommonModes ? 1 : -1;
}

CF_EXTERN_C_END

#endif
