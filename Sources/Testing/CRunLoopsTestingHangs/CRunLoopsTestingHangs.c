// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

#include "CRunLoopsTestingHangs.h"

#include <stdint.h>

typedef struct {
    uint64_t code;
    uint64_t context;
} rl_closure;

rl_closure rl_closure_words(uint64_t code, uint64_t context) __attribute__((swiftcall));

// The two words that a closure is passed as. Written in C: Swift's compiler does not let a closure that must not escape be looked at.
rl_closure rl_closure_words(uint64_t code, uint64_t context) { return (rl_closure){code, context}; }
