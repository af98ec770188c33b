// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

// Preloaded into a program: a thread that makes children without end, as a program that starts programs does.
//
//   clang -shared -fPIC -pthread -o forker.so Scripts/forker.c
//   FORKER_MILLISECONDS=30 LD_PRELOAD=./forker.so PROGRAM
//
// Each child holds copies of all descriptors for so long, as on a busy machine between fork and exec. It runs no handler of
// pthread_atfork, as in posix_spawn, and is no child that the program could wait for by mistake.

#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static struct timespec hold;

static void *make_children(void *unused) {
    for (;;) {
        // Without flags: a copy of the process, with no signal at its end. In the child nothing but system calls: another
        // thread may have held any lock.
        long child = syscall(SYS_clone, 0, 0, 0, 0, 0);
        if (child == 0) {
            syscall(SYS_nanosleep, &hold, 0);
            syscall(SYS_exit_group, 0);
        }
        if (child > 0) waitpid((pid_t)child, NULL, __WALL);
        usleep(1000);
    }
    return unused;
}

__attribute__((constructor)) static void begin(void) {
    const char *milliseconds = getenv("FORKER_MILLISECONDS");
    if (!milliseconds) return;
    long time = atol(milliseconds);
    hold = (struct timespec){.tv_sec = time / 1000, .tv_nsec = time % 1000 * 1000000};
    unsetenv("FORKER_MILLISECONDS");
    unsetenv("LD_PRELOAD");
    // Signals are for the program's own threads.
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    pthread_t thread;
    if (pthread_create(&thread, NULL, make_children, NULL) == 0) pthread_setname_np(thread, "forker");
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}
