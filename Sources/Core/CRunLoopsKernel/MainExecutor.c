// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

#include "MainExecutor.h"

#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

#define SWIFT_CC __attribute__((swiftcall))

// As the runtime declares them. Weak, as in SwiftRuntime.c: a null address shows that a runtime lacks them.
typedef SWIFT_CC rl_executor (*get_original)(void);
typedef SWIFT_CC rl_executor (*get_hook)(get_original original);
typedef SWIFT_CC bool (*is_original)(rl_executor executor);
typedef SWIFT_CC bool (*is_hook)(rl_executor executor, is_original original);
typedef SWIFT_CC void (*enqueue_original)(void *job);
typedef SWIFT_CC void (*enqueue_hook)(void *job, enqueue_original original);
extern get_hook swift_task_getMainExecutor_hook __attribute__((weak));
extern is_hook swift_task_isMainExecutor_hook __attribute__((weak));
extern enqueue_hook swift_task_enqueueMainExecutor_hook __attribute__((weak));

static rl_executor (*make_ours)(void);
static void (*enqueue_ours)(const void *job);
static rl_executor ours;
static pthread_once_t made = PTHREAD_ONCE_INIT;

static void make(void) { ours = make_ours(); }

static SWIFT_CC rl_executor get(get_original original) {
    (void)original;
    // Its fast path is one load, which orders the other threads' reads after the write.
    pthread_once(&made, make);
    return ours;
}

static SWIFT_CC bool is(rl_executor executor, is_original original) {
    return executor.identity == get((get_original)NULL).identity || original(executor);
}

static SWIFT_CC void enqueue(void *job, enqueue_original original) {
    (void)original;
    enqueue_ours(job);
}

int rl_main_executor_owner(void) {
    if (&swift_task_getMainExecutor_hook == NULL || &swift_task_enqueueMainExecutor_hook == NULL) return 0;
    if (swift_task_getMainExecutor_hook == get) return 1;
    return swift_task_getMainExecutor_hook == NULL && swift_task_enqueueMainExecutor_hook == NULL ? 0 : -EBUSY;
}

int rl_main_executor_set(rl_executor (*make)(void), void (*enqueue_job)(const void *job)) {
    if (&swift_task_getMainExecutor_hook == NULL || &swift_task_isMainExecutor_hook == NULL ||
        &swift_task_enqueueMainExecutor_hook == NULL) {
        return -ENOSYS;
    }
    if (swift_task_getMainExecutor_hook == get) return 0;
    if (swift_task_getMainExecutor_hook != NULL || swift_task_isMainExecutor_hook != NULL ||
        swift_task_enqueueMainExecutor_hook != NULL) {
        return -EBUSY;
    }
    make_ours = make;
    enqueue_ours = enqueue_job;
    swift_task_isMainExecutor_hook = is;
    swift_task_enqueueMainExecutor_hook = enqueue;
    swift_task_getMainExecutor_hook = get;
    return 0;
}
