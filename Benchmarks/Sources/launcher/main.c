// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

// Starts a program again and again and measures it from outside: launcher <times> <program> [argument…]
//
// A program of its own, because a child's greatest resident size counts from its parent's: a small parent is needed to
// see a small child. Prints the median wall time from spawn to exit, and the median of the greatest resident sizes.

#define _GNU_SOURCE
#include "BenchKit.h"
#include "workloads/c-program.h"

#include <fcntl.h>
#include <spawn.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>

extern char **environ;

int main(int count, char **words) {
    bk_arguments(count, words);
    if (count < 3) bk_fail("usage: launcher <times> <program> [argument…]");
    int times = atoi(words[1]);
    bk_samples walls = bk_samples_make(times), sizes = bk_samples_make(times);
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0);
    // Two before the first that counts: the files come from the disk.
    for (int i = -2; i < times; i++) {
        pid_t child;
        int status;
        struct rusage usage;
        int64_t began = bk_now();
        if (posix_spawn(&child, words[2], &actions, NULL, words + 2, environ) != 0) bk_fail(words[2]);
        wait4(child, &status, 0, &usage);
        int64_t wall = bk_now() - began;
        if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) bk_fail("the program failed");
        if (i < 0) continue;
        bk_sample(&walls, wall);
        bk_sample(&sizes, usage.ru_maxrss);
    }
    bk_result("wall_ms", bk_quantile(&walls, 0.5) / 1e6);
    bk_result("rss_mb", bk_quantile(&sizes, 0.5) / 1024);
    bk_finish();
}
