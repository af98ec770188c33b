// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

// The parser of directory entries, for a directory and for a child between clone and exec.

#ifndef ENTRIES_H
#define ENTRIES_H

#include "Directories.h"

#include <errno.h>

// The kernel's entry (linux_dirent64): number and offset of 8 bytes each, its own length of 2, a type of 1, the name with a
// zero, and padding.
enum { ENTRY_LENGTH = 16, ENTRY_TYPE = 18, ENTRY_NAME = 19 };

// Inlined everywhere, and so instrumented as its caller is: no sanitizer may look into the child.
__attribute__((always_inline)) static inline int next_entry(
    const char *bytes, size_t count, size_t *place, rl_directory_entry *entry) {
    if (*place >= count) return 0;
    const char *start = bytes + *place;
    size_t rest = count - *place;
    if (rest <= ENTRY_NAME) return -EIO;
    size_t length = (size_t)((const uint8_t *)start)[ENTRY_LENGTH];
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    length |= (size_t)((const uint8_t *)start)[ENTRY_LENGTH + 1] << 8;
#else
    length = length << 8 | ((const uint8_t *)start)[ENTRY_LENGTH + 1];
#endif
    if (length <= ENTRY_NAME || length > rest) return -EIO;
    const char *name = start + ENTRY_NAME, *end = name;
    while (end < start + length && *end != 0) end++;
    if (end == start + length) return -EIO;
    *entry = (rl_directory_entry){.name = name, .length = (size_t)(end - name), .type = (uint8_t)start[ENTRY_TYPE]};
    *place += length;
    return 1;
}

#endif
