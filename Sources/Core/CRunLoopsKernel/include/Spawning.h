// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

// Starts a process, with a descriptor of that process.
//
// As in CRunLoopsKernel.h, a failure is returned as a negative errno.

#ifndef SPAWNING_H
#define SPAWNING_H

#include "LinuxOnly.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// The system's numbers, which the C library gives Swift as another type than its functions take.
extern const int32_t rl_limit_cpu;
extern const int32_t rl_limit_file_size;
extern const int32_t rl_limit_data;
extern const int32_t rl_limit_stack;
extern const int32_t rl_limit_core;
extern const int32_t rl_limit_open_files;
extern const int32_t rl_limit_address_space;

typedef struct {
    int32_t resource;
    uint64_t soft;
    uint64_t hard;
} rl_limit;

typedef struct {
    // A descriptor of this process, and its number in the child.
    int32_t from;
    int32_t to;
    // Room for the child to work in.
    int32_t spare;
} rl_descriptor_move;

typedef enum {
    RL_SPAWN_CLONE,
    RL_SPAWN_SIGNALS,
    RL_SPAWN_GROUP,
    RL_SPAWN_DIRECTORY,
    RL_SPAWN_DESCRIPTORS,
    RL_SPAWN_TERMINAL,
    RL_SPAWN_LIMITS,
    RL_SPAWN_EXECUTE,
} rl_spawn_step;

typedef struct {
    // The files to try, in order, with a null at the end.
    char *const *paths;
    char *const *arguments;
    // Null for this process's own, which is handed over as it is at the moment of the start.
    char *const *environment;
    // Null for this process's own.
    const char *directory;
    // In the order of `to`. Every other descriptor is closed.
    rl_descriptor_move *moves;
    size_t move_count;
    const rl_limit *limits;
    size_t limit_count;
    // -1: the caller's; 0: a new group; otherwise the group to join.
    int32_t group;
    // A new session, which has a new group.
    bool session;
    // Whether the child's standard input becomes the controlling terminal of the new session.
    bool terminal;
    // Set by rl_spawn: whether close_range can be called.
    bool closes_ranges;
    // The result: what failed, and for the limits which one.
    rl_spawn_step step;
    size_t index;
    int32_t error;
} rl_spawn_plan;

// Returns the number of the new process, and its descriptor, which is closed on exec. The process has begun the
// program when the call returns; otherwise `step` and `error` say why it has not, and no process is left.
int rl_spawn(rl_spawn_plan *plan, int *pidfd);
// `environ`, which Swift may not name. Another thread may be changing what it points to.
char *const *rl_environment(void);
// Opens a file for a child: closed on exec, and not the terminal that controls the process.
int rl_open(const char *path, int flags, unsigned mode);
// The reading end and the writing end, closed on exec, and blocking.
int rl_blocking_pipe(int *ends);
bool rl_is_open(int descriptor);
int rl_close_on_exec(int descriptor);
bool rl_is_terminal(int descriptor);
// Writes what the other side takes now, also to a blocking descriptor; -EAGAIN if that is nothing. Never waits for another process:
// a blocking pipe or terminal is opened once more for the write, and one that cannot be opened gives -EOPNOTSUPP. Sends no SIGPIPE: a
// pipe that nobody reads gives -EPIPE.
int rl_write_ready(int descriptor, const void *bytes, size_t count);

#endif
