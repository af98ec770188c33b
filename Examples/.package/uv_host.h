// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

// A run loop as a guest of libuv's loop: the part to copy. Links to this file and to uv_host.c are among the sources of the examples with
// libuv.

#ifndef UV_HOST_H
#define UV_HOST_H

#include <RunLoopsHost.h>
#include <uv.h>

typedef struct uv_host {
    uv_poll_t poll;
    uv_prepare_t prepare;
    runloops_loop *loop;
    // Runs the loop, if the program does something before and after; otherwise NULL.
    void (*serve)(struct uv_host *host);
    // What the loop's last run returned.
    int result;
    // How often libuv's loop was about to wait.
    unsigned long waits;
    void (*closed)(struct uv_host *host);
    int open_handles;
    void *data;
} uv_host;

// Has `uv`, which this thread runs, wait for the loop and run it. Returns 0, or a negative error number of the system or of libuv.
//
// The loop does not keep uv_run() from returning: uv_ref() of `poll` does that, for as long as the program expects something of it.
// A stop in a callout of the loop stops `uv`.
int uv_host_start(uv_host *host, uv_loop_t *uv, runloops_loop *loop);

// Ends it. libuv calls `closed`, unless it is NULL, when `host` is no longer used. The thread may end only after that.
void uv_host_stop(uv_host *host, void (*closed)(uv_host *host));

#endif
