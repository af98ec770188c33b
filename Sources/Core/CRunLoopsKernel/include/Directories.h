// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

// The entries of directories, read as the kernel writes them.
//
// Not by readdir: its `d_name` is declared with 256 bytes, and a name can be longer. 255 bytes is the limit of most file systems;
// the kernel's own is PATH_MAX, and a file system in user space can use all of it.

#ifndef CLINUXKERNEL_DIRECTORIES_H
#define CLINUXKERNEL_DIRECTORIES_H

#include "LinuxOnly.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// Room for the longest entry, and for hundreds of usual ones: the kernel refuses names of PATH_MAX (4,096) bytes and more (verify_dirent_name).
#define RL_ENTRIES_ROOM 8192

typedef struct {
    // Ends with a zero, inside the bytes that were read.
    const char *name;
    size_t length;
    // DT_DIR and so on; DT_UNKNOWN from some file systems.
    uint8_t type;
} rl_directory_entry;

// A descriptor. Does not follow a link at the end of the path.
int rl_directory_open(const char *path);
// Reads the next entries: how many bytes, and 0 at the end.
int rl_directory_read(int directory, void *space, size_t capacity);
// Finds the entry at `place` in `count` bytes of entries, and moves the place behind it. Reads nothing outside of the bytes,
// whatever they are. 1; 0 at the end of the bytes; -EIO if they are no entries.
int rl_directory_next(const void *bytes, size_t count, size_t *place, rl_directory_entry *entry);
// Whether an entry is a directory, and not a link to one.
bool rl_directory_is_directory(int directory, const rl_directory_entry *entry);

#endif
