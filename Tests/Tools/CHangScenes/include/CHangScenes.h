// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

// Ways to hang that Swift cannot express: on other stacks, in libraries that come and go, in a sandbox.

#ifndef CHANGSCENES_H
#define CHANGSCENES_H

#include <stdbool.h>
#include <stdint.h>

// Uses the processor for so many milliseconds; time without a processor does not count.
void scene_spin(int milliseconds);
// The same on a stack of 64 KiB with a guard page above it, below the thread's own; with `room`, so far down that only
// so many bytes of that stack are left.
void scene_spin_on_fibre(int milliseconds, int room);
// The same in a signal handler that has such a stack.
void scene_spin_in_handler(int milliseconds);
// The same after recursing through most of the calling thread's stack; how many bytes.
void scene_spin_deep_down(int milliseconds, int64_t bytes);

// The same in `library_spin` of a library; false if there is none.
bool scene_spin_in_library(const char *path, int milliseconds);
// Loads a library, calls its `library_work` and unloads it, again and again; how many times.
int scene_load_and_unload(const char *path, int milliseconds);

// Has a child of vfork() sleep for so long, while the calling thread waits for it.
void scene_vfork(int milliseconds);
// fork(), which Swift does not name; and its end, as the shell would say it.
int scene_fork(void);
int scene_wait(int child);

// From here on the process may not call process_vm_readv; false if the system has no such sandbox.
bool scene_enter_sandbox(void);

// Runs and sleeps by turns, each for up to 2 ms, for so many milliseconds; how many sleeps ended early with EINTR.
int scene_run_and_sleep(int milliseconds, int *sleeps);

#endif
