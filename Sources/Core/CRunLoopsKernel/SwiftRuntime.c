// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

#include "SwiftRuntime.h"

#include <errno.h>
#include <stddef.h>

#define SWIFT_CC __attribute__((swiftcall))

// Weak, so that a program without Swift's concurrency (the peers of the benchmarks) links as well, and so that a null
// address shows that a runtime has dropped one of them.
typedef SWIFT_CC void (*original_drain)(void);
typedef SWIFT_CC void (*drain_hook)(original_drain original, void *override);
extern drain_hook swift_task_asyncMainDrainQueue_hook __attribute__((weak));
extern SWIFT_CC size_t swift_task_currentPriority(void *task) __attribute__((weak));
extern SWIFT_CC void swift_job_run(void *job, void *executor, uintptr_t witness) __attribute__((weak));
extern SWIFT_CC void swift_task_enqueueGlobalWithDelay(uint64_t nanoseconds, void *job) __attribute__((weak));

static void (*our_drain)(void);

static SWIFT_CC void drain_with_ours(original_drain original, void *override) {
    (void)original;
    (void)override;
    our_drain();
    // The entry point cannot continue.
    __builtin_trap();
}

int rl_async_main_set_drain(void (*drain)(void)) {
    if (&swift_task_asyncMainDrainQueue_hook == NULL) return -ENOSYS;
    drain_hook present = swift_task_asyncMainDrainQueue_hook;
    if (present != NULL && present != drain_with_ours) return -EBUSY;
    our_drain = drain;
    swift_task_asyncMainDrainQueue_hook = drain_with_ours;
    return 0;
}

// The head of a job as swift/ExecutorImpl.h of the toolchain gives it to those who implement executors.
struct job {
    const void *metadata;
    uintptr_t references;
    void *scheduler[2];
    uint32_t flags;
};

uint8_t rl_job_priority(const void *job, uint8_t enqueued) {
    const struct job *head = job;
    // Kind 0 is a task; other jobs keep their priority.
    if (&swift_task_currentPriority == NULL || (head->flags & 0xff) != 0) return enqueued;
    return (uint8_t)swift_task_currentPriority((void *)job);
}

void rl_run_job_here(void *job) {
    // A job that was lost would leave its task without an end.
    if (&swift_job_run == NULL) __builtin_trap();
    // The generic executor is two zero words. On any other one, a job without an executor of its own moves to the pool.
    swift_job_run(job, NULL, 0);
}

void rl_enqueue_globally(void *job, uint64_t nanoseconds) {
    if (&swift_task_enqueueGlobalWithDelay == NULL) __builtin_trap();
    swift_task_enqueueGlobalWithDelay(nanoseconds, job);
}
