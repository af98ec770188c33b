// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

// Reading memory of this process that may not be there: through the kernel, which answers with an error where a load would be a
// SIGSEGV or a SIGBUS.

#ifndef CLINUXKERNEL_MEMORY_H
#define CLINUXKERNEL_MEMORY_H

#include "LinuxOnly.h"

#include <stddef.h>
#include <stdint.h>

// Copies memory of this process that may not be there, up to the first page that is not. Returns how many bytes.
// Async-signal-safe.
size_t rl_copy_memory(uint64_t from, void *to, size_t size);
// The same by /proc/thread-self/mem alone, for a process whose filter of system calls may end it at process_vm_readv.
size_t rl_copy_memory_by_file(uint64_t from, void *to, size_t size);

#endif
