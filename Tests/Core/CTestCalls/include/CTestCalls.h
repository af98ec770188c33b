// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

// Calls that Swift's import of the C library leaves out. Each that returns a number returns 0 or a negative errno.

#ifndef CTESTCALLS_H
#define CTESTCALLS_H

#include <stdbool.h>
#include <stdint.h>

// Gives each of two names what the other has.
int test_exchange(const char *path, const char *other);
// From now on the calling thread has a working directory of its own.
int test_own_directory(void);
// From now on the calling thread has a table of descriptors of its own, a copy of the old one.
int test_own_descriptors(void);
// From now on the calling thread has mounts of its own, which no other process sees. -EPERM without the right to mount.
int test_own_mounts(void);
// Mounts a file system in memory, and unmounts it.
int test_mount(const char *path);
int test_unmount(const char *path);
// Makes the process end, when SIGALRM comes after so many seconds, with the stack of the thread on standard error. The first call loads
// what it needs: a child of a process with threads can no longer do that.
void test_prepare_alarm(void);
void test_set_alarm(unsigned seconds);
// Lets two threads of this process run on the caller's present processor alone, the first one at the lowest priority.
int test_starve(int32_t thread, int32_t rival);

// Removes a directory with everything in it, and follows no link.
int test_remove_tree(const char *path);
// Makes `environ` point to memory that cannot be read, or to what it pointed to before.
void test_lose_environment(bool is_lost);
// Does what setenv may do when it adds a variable: copies the array of variables to another place, and releases the old one. One
// thread alone.
void test_move_environment(void);

#endif
