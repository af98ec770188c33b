// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

#include "uv_host.h"

#include <stddef.h>

static void serve(uv_host *host) {
    if (host->serve) host->serve(host);
    else host->result = runloops_run_ready(host->loop, NULL, 0);
    if (host->result == RUNLOOPS_STOPPED) uv_stop(host->poll.loop);
}

static void is_readable(uv_poll_t *poll, int status, int events) {
    (void)events;
    if (status == 0) serve(poll->data);
}

// Directly before libuv waits: it computes its timeout after this, and calls the handle that was started first last.
static void is_about_to_wait(uv_prepare_t *prepare) {
    uv_host *host = prepare->data;
    host->waits += 1;
    while (runloops_prepare_to_poll(host->loop, NULL)) serve(host);
}

static void handle_is_closed(uv_handle_t *handle) {
    uv_host *host = handle->data;
    host->open_handles -= 1;
    if (host->open_handles == 0 && host->closed) host->closed(host);
}

int uv_host_start(uv_host *host, uv_loop_t *uv, runloops_loop *loop) {
    int descriptor = runloops_poll_descriptor(loop);
    if (descriptor < 0) return descriptor;
    host->loop = loop;
    host->result = 0;
    host->waits = 0;
    host->poll.data = host;
    host->prepare.data = host;
    int error = uv_poll_init(uv, &host->poll, descriptor);
    if (error) return error;
    host->open_handles = 2;
    uv_prepare_init(uv, &host->prepare);
    uv_prepare_start(&host->prepare, is_about_to_wait);
    uv_unref((uv_handle_t *)&host->prepare);
    uv_unref((uv_handle_t *)&host->poll);
    return uv_poll_start(&host->poll, UV_READABLE, is_readable);
}

void uv_host_stop(uv_host *host, void (*closed)(uv_host *host)) {
    host->closed = closed;
    uv_close((uv_handle_t *)&host->poll, handle_is_closed);
    uv_close((uv_handle_t *)&host->prepare, handle_is_closed);
}
