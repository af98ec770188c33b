// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

// Instances of Core Foundation that stand for objects of Swift.

#ifndef C_CORE_FOUNDATION_INSTANCES_H
#define C_CORE_FOUNDATION_INSTANCES_H

#include <stdbool.h>
#include <stdint.h>

/// The type of the object behind an instance.
typedef enum __attribute__((enum_extensibility(closed))) {
    RLKindLoop,
    RLKindSource,
    RLKindTimer,
    RLKindObserver,
} RLKind;

/// The functions that Core Foundation calls for an instance; `object` is the argument of `rl_set_object`.
typedef struct {
    void (*_Nonnull finalize)(void *_Nonnull object);
    bool (*_Nonnull equal)(void *_Nonnull one, void *_Nonnull other);
    uintptr_t (*_Nonnull hash)(void *_Nonnull object);
    /// A CFStringRef that the caller owns.
    const void *_Nonnull (*_Nonnull copyDescription)(void *_Nonnull object);
} RLInstanceCalls;

/// Makes the four types known to Core Foundation.
///
/// To be called once, before the first instance is made.
void rl_register_types(const RLInstanceCalls *_Nonnull calls);

/// The numbers of the types, after `rl_register_types`: CFTypeID.
uintptr_t rl_type_id(RLKind kind);

/// Makes an instance, with a reference that the caller owns and with no object yet.
void *_Nonnull rl_make_instance(RLKind kind);

/// Gives an instance its object, before another thread knows the instance.
void rl_set_object(void *_Nonnull instance, void *_Nonnull object);

/// An instance: Core Foundation's CFRuntimeBase, and what this library adds.
typedef struct {
    uintptr_t isa;
    uintptr_t references;
    /// Says the type, among other things. Always the same for instances of this library.
    uint64_t info;
    void *_Nullable object;
} RLInstance;

extern uint64_t rl_infos[4];

/// The `info` of a type's instances, after `rl_register_types`.
static inline uint64_t rl_info(RLKind kind) { return rl_infos[kind]; }

/// The object of an instance; `NULL` if it is an instance of another type, or `NULL` itself.
static inline void *_Nullable rl_object(const void *_Nullable instance, RLKind kind) {
    const RLInstance *known = (const RLInstance *)instance;
    return known && known->info == rl_infos[kind] ? known->object : (void *)0;
}

/// Keeps an instance's memory after its end, until `rl_forget`; the instance itself may end.
void rl_remember(void *_Nonnull instance);
void rl_forget(void *_Nonnull instance);

/// Takes a reference to an instance that is remembered, unless it has ended.
bool rl_retain_if_alive(void *_Nonnull instance);

/// Returns the name of a function in the dynamic linker's tables; `NULL` if it has none.
const char *_Nullable rl_function_name(const void *_Nonnull function);

#endif
