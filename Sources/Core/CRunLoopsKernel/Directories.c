// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

#define _GNU_SOURCE
#include "Directories.h"
#include "Entries.h"
#include "Results.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

int rl_directory_open(const char *path) {
    return made(open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
}

int rl_directory_read(int directory, void *space, size_t capacity) {
    int count = result(syscall(SYS_getdents64, directory, space, capacity));
    // A directory that was removed has no entries, as for readdir.
    return count == -ENOENT ? 0 : count;
}

int rl_directory_next(const void *bytes, size_t count, size_t *place, rl_directory_entry *entry) {
    return next_entry(bytes, count, place, entry);
}

bool rl_directory_is_directory(int directory, const rl_directory_entry *entry) {
    if (entry->type != DT_UNKNOWN) return entry->type == DT_DIR;
    struct stat status;
    return fstatat(directory, entry->name, &status, AT_SYMLINK_NOFOLLOW) == 0 && S_ISDIR(status.st_mode);
}
