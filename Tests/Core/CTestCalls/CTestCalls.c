// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

#define _GNU_SOURCE
#include "CTestCalls.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <sys/mount.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef RENAME_EXCHANGE
#define RENAME_EXCHANGE (1 << 1)
#endif

static int result(long value) { return value < 0 ? -errno : 0; }

// By number: musl has no function for it.
int test_exchange(const char *path, const char *other) {
    return result(syscall(SYS_renameat2, AT_FDCWD, path, AT_FDCWD, other, RENAME_EXCHANGE));
}

int test_own_directory(void) { return result(unshare(CLONE_FS)); }

int test_own_mounts(void) {
    int failure = result(unshare(CLONE_NEWNS));
    return failure ? failure : result(mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL));
}

int test_mount(const char *path) { return result(mount("none", path, "tmpfs", 0, NULL)); }

int test_unmount(const char *path) { return result(umount(path)); }
