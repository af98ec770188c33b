// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

// For dladdr.
#define _GNU_SOURCE

#include "Instances.h"

#include <dlfcn.h>
#include <stdlib.h>

// Core Foundation's CFRuntime.h, as far as it is needed here: the compiler of C does not find the toolchain's headers by
// itself. The layout is part of Core Foundation's interface to its own libraries.

typedef struct {
    intptr_t version;
    const char *className;
    void (*init)(const void *);
    const void *(*copy)(const void *, const void *);
    void (*finalize)(const void *);
    unsigned char (*equal)(const void *, const void *);
    uintptr_t (*hash)(const void *);
    const void *(*copyFormattingDesc)(const void *, const void *);
    const void *(*copyDebugDesc)(const void *);
    void (*reclaim)(const void *);
    uint32_t (*refcount)(intptr_t, const void *);
    uintptr_t requiredAlignment;
} CFRuntimeClass;

extern uintptr_t _CFRuntimeRegisterClass(const CFRuntimeClass *class);
extern void CFRelease(const void *instance);
extern const void *_CFRuntimeCreateInstance(const void *allocator, uintptr_t type, intptr_t extra, void *category);

// Makes the instances of a type objects of a class of Swift, whose fields begin like theirs.
extern void _CFRuntimeBridgeTypeToClass(uintptr_t type, const void *class);
// The class of Swift that timers are, in a program with FoundationRunLoop.
extern const void *rl_class_of_timers(void) __attribute__((weak));

static RLInstanceCalls calls;
static uintptr_t types[4];
uint64_t rl_infos[4];

static void *object_of(const void *instance) { return ((const RLInstance *)instance)->object; }

static void finalize(const void *instance) {
    if (object_of(instance)) calls.finalize(object_of(instance));
}

static unsigned char equal(const void *one, const void *other) {
    return calls.equal(object_of(one), object_of(other));
}

static uintptr_t hash(const void *instance) { return calls.hash(object_of(instance)); }

static const void *copy_description(const void *instance) { return calls.copyDescription(object_of(instance)); }

// The names are those of Apple's own types.
#define TYPE(name) \
    { .className = name, .finalize = finalize, .equal = equal, .hash = hash, .copyDebugDesc = copy_description }

static const CFRuntimeClass classes[4] = {
    [RLKindLoop] = TYPE("CFRunLoop"),
    [RLKindSource] = TYPE("CFRunLoopSource"),
    [RLKindTimer] = TYPE("CFRunLoopTimer"),
    [RLKindObserver] = TYPE("CFRunLoopObserver"),
};

void rl_register_types(const RLInstanceCalls *given) {
    calls = *given;
    for (RLKind kind = RLKindLoop; kind <= RLKindObserver; kind++) {
        types[kind] = _CFRuntimeRegisterClass(&classes[kind]);
        // Of an instance that ends at once: what its fields have in common with those of all others.
        RLInstance *first = rl_make_instance(kind);
        rl_infos[kind] = first->info;
        CFRelease(first);
    }
    if (rl_class_of_timers) _CFRuntimeBridgeTypeToClass(types[RLKindTimer], rl_class_of_timers());
}

uintptr_t rl_type_id(RLKind kind) { return types[kind]; }

void *rl_make_instance(RLKind kind) {
    // Core Foundation adds the size of its own part, which ends where `object` begins.
    void *instance = (void *)_CFRuntimeCreateInstance(NULL, types[kind], sizeof(void *), NULL);
    // Out of memory: nobody looks at the result of a Create function.
    if (!instance) abort();
    return instance;
}

void rl_set_object(void *instance, void *object) { ((RLInstance *)instance)->object = object; }

// On Linux an instance of Core Foundation is an object of Swift, whose runtime counts the references to it.
extern void *swift_unownedRetain(void *object);
extern void swift_unownedRelease(void *object);
extern void *swift_tryRetain(void *object);

void rl_remember(void *instance) { swift_unownedRetain(instance); }
void rl_forget(void *instance) { swift_unownedRelease(instance); }
bool rl_retain_if_alive(void *instance) { return swift_tryRetain(instance); }

const char *rl_function_name(const void *function) {
    Dl_info info;
    return dladdr(function, &info) && info.dli_saddr == function ? info.dli_sname : NULL;
}
