// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

#define _GNU_SOURCE
#include "CTestCalls.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#if __has_include(<execinfo.h>)
#include <execinfo.h>
#else
// musl has no way to walk a stack.
static int backtrace(void **frames, int count) { return 0; }
static void backtrace_symbols_fd(void *const *frames, int count, int descriptor) {}
#endif

#ifndef RENAME_EXCHANGE
#define RENAME_EXCHANGE (1 << 1)
#endif

static int result(long value) { return value < 0 ? -errno : 0; }

static int remove_entry(const char *path, const struct stat *file, int kind, struct FTW *place) {
    (void)file, (void)kind, (void)place;
    return remove(path);
}

int test_starve(int32_t thread, int32_t rival) {
    cpu_set_t present;
    CPU_ZERO(&present);
    CPU_SET(sched_getcpu(), &present);
    if (sched_setaffinity(thread, sizeof present, &present) < 0) return -errno;
    if (sched_setaffinity(rival, sizeof present, &present) < 0) return -errno;
    return result(setpriority(PRIO_PROCESS, (id_t)thread, 19));
}

int test_remove_tree(const char *path) { return result(nftw(path, remove_entry, 16, FTW_DEPTH | FTW_PHYS)); }

// By number: musl has no function for it.
int test_exchange(const char *path, const char *other) {
    return result(syscall(SYS_renameat2, AT_FDCWD, path, AT_FDCWD, other, RENAME_EXCHANGE));
}

int test_own_directory(void) { return result(unshare(CLONE_FS)); }

int test_own_descriptors(void) { return result(unshare(CLONE_FILES)); }

int test_own_mounts(void) {
    int failure = result(unshare(CLONE_NEWNS));
    return failure ? failure : result(mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL));
}

int test_mount(const char *path) { return result(mount("none", path, "tmpfs", 0, NULL)); }

int test_unmount(const char *path) { return result(umount(path)); }

static void print_stack(int signal) {
    static const char words[] = "a forked child hangs here:\n";
    void *frames[64];
    (void)!write(STDERR_FILENO, words, sizeof words - 1);
    backtrace_symbols_fd(frames, backtrace(frames, 64), STDERR_FILENO);
    // SA_RESETHAND has restored the default, which ends the process after the handler's return.
    raise(signal);
}

void test_prepare_alarm(void) {
    void *frame;
    backtrace(&frame, 1);
}

void test_set_alarm(unsigned seconds) {
    struct sigaction action = {.sa_handler = print_stack, .sa_flags = (int)SA_RESETHAND};
    sigset_t only;
    sigaction(SIGALRM, &action, NULL);
    sigemptyset(&only);
    sigaddset(&only, SIGALRM);
    sigprocmask(SIG_UNBLOCK, &only, NULL);
    alarm(seconds);
}

void test_lose_environment(bool is_lost) {
    static char **kept;
    if (is_lost) {
        kept = environ;
        environ = mmap(NULL, 1, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    } else {
        munmap(environ, 1);
        environ = kept;
    }
}

void test_move_environment(void) {
    static size_t room;
    size_t count = 0;
    while (environ[count] != NULL) count++;
    size_t size = (count + 1) * sizeof *environ;
    char **old = environ, **moved = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (moved == MAP_FAILED) return;
    memcpy(moved, old, size);
    environ = moved;
    // The first array is the kernel's.
    if (room != 0) munmap(old, room);
    room = size;
}
