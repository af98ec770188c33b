// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "CHostScenes.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "RunLoopsHost.h"

#pragma mark A host on poll(2)

// Long, because it ends a test that fails; never an expectation of being prompt.
enum { PLENTY = 60000 };

typedef struct {
    runloops_loop *loop;
    int descriptor;
    // The result of the last run.
    int result;
    // How often the host has begun to wait.
    int waits;
} poll_host;

static bool begin(poll_host *host) {
    host->loop = runloops_current();
    host->descriptor = runloops_poll_descriptor(host->loop);
    host->result = 0;
    host->waits = 0;
    return host->descriptor >= 0;
}

static bool is_readable(poll_host *host, int milliseconds) {
    struct pollfd one = {.fd = host->descriptor, .events = POLLIN, .revents = 0};
    int count;
    do count = poll(&one, 1, milliseconds);
    while (count < 0 && errno == EINTR);
    return count > 0;
}

static void run(poll_host *host) { host->result = runloops_run_ready(host->loop, NULL, 0); }

static void prepare(poll_host *host) {
    while (runloops_prepare_to_poll(host->loop, NULL)) run(host);
}

// Waits once, and runs the loop; false if nothing came.
static bool step(poll_host *host) {
    prepare(host);
    host->waits += 1;
    if (!is_readable(host, PLENTY)) return false;
    run(host);
    return true;
}

#pragma mark A post, which counts

typedef struct {
    pthread_t thread;
    atomic_int calls, releases;
    // The number of calls of another post when this one was called.
    atomic_int seen;
    const atomic_int *before;
    runloops_loop *stops;
} post;

static void call(void *context) {
    post *one = context;
    one->thread = pthread_self();
    if (one->before) one->seen = *one->before;
    if (one->stops) runloops_stop(one->stops);
    one->calls += 1;
}

static void release(void *context) { ((post *)context)->releases += 1; }

#pragma mark Scenes

enum { POSTS = 1000 };

typedef struct {
    runloops_loop *loop;
    post posts[POSTS];
} posting;

static void *post_all(void *context) {
    posting *all = context;
    for (int i = 0; i < POSTS; i += 1) runloops_perform(all->loop, NULL, call, &all->posts[i], release);
    return NULL;
}

const char *scene_posts_of_another_thread(void) {
    poll_host host;
    if (!begin(&host)) return "the loop has no descriptor";
    posting *all = calloc(1, sizeof *all);
    all->loop = host.loop;
    for (int i = 1; i < POSTS; i += 1) all->posts[i].before = &all->posts[i - 1].calls;
    pthread_t thread;
    if (pthread_create(&thread, NULL, post_all, all)) return "no thread";
    const char *wrong = NULL;
    while (!all->posts[POSTS - 1].calls && !wrong) {
        // The last post may have run while the wait was prepared: then nothing more comes.
        if (!step(&host) && !all->posts[POSTS - 1].calls) wrong = "the descriptor was not readable for a post";
    }
    pthread_join(thread, NULL);
    // The last post is released after its call, in the same run.
    prepare(&host);
    for (int i = 0; i < POSTS && !wrong; i += 1) {
        post *one = &all->posts[i];
        if (one->calls != 1) wrong = "a post was not called once";
        else if (one->releases != 1) wrong = "a context was not released once";
        else if (i > 0 && one->seen != 1) wrong = "a post was called before an earlier one";
        else if (!pthread_equal(one->thread, pthread_self())) wrong = "a post was called on another thread";
    }
    if (!wrong && is_readable(&host, 0)) wrong = "the descriptor is readable though all work is done";
    free(all);
    return wrong;
}

const char *scene_post_of_a_callback(void) {
    poll_host host;
    if (!begin(&host)) return "the loop has no descriptor";
    prepare(&host);
    // Here the host's callbacks would be.
    post one = {0};
    runloops_perform(host.loop, NULL, call, &one, release);
    prepare(&host);
    if (one.calls != 1) return "the post waits for the host's wait";
    if (is_readable(&host, 0)) {
        // The wake-up of the post; the next run takes it.
        run(&host);
        prepare(&host);
    }
    return is_readable(&host, 0) ? "the descriptor stays readable" : NULL;
}

const char *scene_wake_up(void) {
    poll_host host;
    if (!begin(&host)) return "the loop has no descriptor";
    run(&host);
    prepare(&host);
    if (is_readable(&host, 0)) return "the descriptor is readable before the wake-up";
    runloops_wake_up(host.loop);
    runloops_wake_up(host.loop);
    if (!is_readable(&host, PLENTY)) return "the descriptor is not readable after a wake-up";
    run(&host);
    prepare(&host);
    return is_readable(&host, 0) ? "one run does not take two wake-ups" : NULL;
}

const char *scene_stop(void) {
    poll_host host;
    if (!begin(&host)) return "the loop has no descriptor";
    runloops_stop(host.loop);
    post plain = {0}, stops = {.stops = host.loop};
    runloops_perform(host.loop, NULL, call, &plain, NULL);
    run(&host);
    if (host.result == RUNLOOPS_STOPPED) return "a stop between two runs ends the next run";
    runloops_perform(host.loop, NULL, call, &stops, NULL);
    run(&host);
    if (stops.calls != 1) return "the post was not called";
    return host.result == RUNLOOPS_STOPPED ? NULL : "a stop in a callout is not the result";
}

const char *scene_modes(void) {
    poll_host host;
    if (!begin(&host)) return "the loop has no descriptor";
    post in_default = {0}, in_mine = {0}, in_common = {0};
    runloops_perform(host.loop, NULL, call, &in_default, NULL);
    runloops_perform(host.loop, "mine", call, &in_mine, NULL);
    runloops_perform(host.loop, "kCFRunLoopCommonModes", call, &in_common, NULL);
    runloops_run_ready(host.loop, "mine", 0);
    if (in_mine.calls != 1 || in_default.calls || in_common.calls) return "a run in a mode serves other posts than this mode's";
    runloops_run_ready(host.loop, "kCFRunLoopDefaultMode", 0);
    if (in_default.calls != 1 || in_common.calls != 1) return "the default mode is not the mode of that name, or not common";
    // The descriptor follows the mode that the host names.
    if (runloops_prepare_to_poll(host.loop, "mine")) runloops_run_ready(host.loop, "mine", 0);
    runloops_perform(host.loop, "mine", call, &in_mine, NULL);
    if (!is_readable(&host, PLENTY)) return "the descriptor does not show a post in the host's mode";
    runloops_run_ready(host.loop, "mine", RUNLOOPS_HOST_SERVES_MAIN_QUEUE);
    return in_mine.calls == 2 ? NULL : "the post in the host's mode was not called";
}

static void *end_with_a_post(void *context) {
    runloops_loop *loop = runloops_retain(runloops_current());
    runloops_perform(loop, NULL, call, context, release);
    return loop;
}

const char *scene_end_of_a_thread(void) {
    post left = {0}, late = {0};
    pthread_t thread;
    void *result;
    if (pthread_create(&thread, NULL, end_with_a_post, &left)) return "no thread";
    pthread_join(thread, &result);
    runloops_loop *loop = result;
    if (left.calls) return "a post was called though no run was";
    if (left.releases != 1) return "the end of the thread does not release the context once";
    runloops_perform(loop, NULL, call, &late, release);
    runloops_wake_up(loop);
    runloops_stop(loop);
    runloops_release(loop);
    if (late.calls) return "a loop whose thread has ended calls a post";
    return late.releases == 1 ? NULL : "a post to a loop whose thread has ended is not released once";
}

const char *scene_frames(void) {
    runloops_loop *loop = runloops_current();
    post first = {0}, second = {0};
    runloops_perform(loop, NULL, call, &first, release);
    runloops_run_ready(loop, NULL, 0);
    if (first.calls != 1 || first.releases != 1) return "the first frame does not serve the post";
    runloops_perform(loop, NULL, call, &second, release);
    runloops_run_ready(loop, NULL, 0);
    return second.calls == 1 && second.releases == 1 ? NULL : "the second frame does not serve the post";
}

static void *current(void *context) {
    (void)context;
    return runloops_current();
}

const char *scene_identity(void) {
    if (runloops_host_version() != RUNLOOPS_HOST_VERSION) return "the library has another version than the header";
    runloops_loop *here = runloops_current();
    if (here != runloops_current()) return "a thread has two loops";
    if (runloops_main() != runloops_main()) return "the main loop has two pointers";
    if (here == runloops_main()) return NULL;
    pthread_t thread;
    void *there;
    if (pthread_create(&thread, NULL, current, NULL)) return "no thread";
    pthread_join(thread, &there);
    return there == (void *)here ? "two threads have one loop" : NULL;
}

const char *scene_run_until(const int *isDone) {
    poll_host host;
    if (!begin(&host)) return "the loop has no descriptor";
    while (!*isDone)
        if (!step(&host)) return "the descriptor was not readable for the work";
    return NULL;
}

#pragma mark Against the rules

static void *own_loop(void *context) {
    // Kept, so that the caller may name a loop whose thread has ended.
    *(runloops_loop **)context = runloops_retain(runloops_current());
    return NULL;
}

void scene_misuse(int number) {
    runloops_loop *mine = runloops_current(), *strange = NULL;
    pthread_t thread;
    if (pthread_create(&thread, NULL, own_loop, &strange)) return;
    pthread_join(thread, NULL);
    post one = {0};
    switch (number) {
    case 0: runloops_poll_descriptor(strange); break;
    case 1: runloops_prepare_to_poll(strange, NULL); break;
    case 2: runloops_run_ready(strange, NULL, 0); break;
    case 3: runloops_prepare_to_poll(mine, NULL); break;
    case 4: runloops_run_ready(mine, NULL, 4); break;
    case 5: runloops_run_ready(mine, "kCFRunLoopCommonModes", 0); break;
    case 6: runloops_run_ready(mine, "\xff", 0); break;
    case 7: runloops_perform(mine, NULL, NULL, &one, NULL); break;
    case 8: runloops_poll_descriptor(NULL); break;
    case 9: runloops_prepare_to_poll(NULL, NULL); break;
    case 10: runloops_run_ready(NULL, NULL, 0); break;
    case 11: runloops_wake_up(NULL); break;
    case 12: runloops_stop(NULL); break;
    case 13: runloops_perform(NULL, NULL, call, &one, NULL); break;
    case 14: runloops_retain(NULL); break;
    case 15: runloops_release(NULL); break;
    default: abort();
    }
}

int scene_poll_descriptor(void) { return runloops_poll_descriptor(runloops_current()); }
