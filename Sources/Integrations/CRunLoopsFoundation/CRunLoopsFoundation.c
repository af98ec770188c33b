// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

#define _GNU_SOURCE

#include "CRunLoopsFoundation.h"

#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

// Swift has no constructors.
__attribute__((constructor)) static void at_load(void) { run_loops_foundation_at_load(); }

// As in CFRunLoop.h.
typedef const void *object;
enum { run_loop_entry = 1 };
extern int32_t CFRunLoopRunInMode(object mode, double seconds, unsigned char return_after_source);
extern object CFRunLoopGetCurrent(void);
extern void CFRunLoopWakeUp(object loop);
extern double CFRunLoopGetNextTimerFireDate(object loop, object mode);
extern object CFRunLoopObserverCreate(
    object allocator, unsigned long activities, unsigned char repeats, long order,
    void (*callout)(object observer, unsigned long activity, void *info), void *context);
extern void CFRunLoopAddObserver(object loop, object observer, object mode);
extern void CFRunLoopObserverInvalidate(object observer);
extern object CFRetain(object);
extern void CFRelease(object);

// MARK: Leaving a run

// The main thread alone.
static jmp_buf door;
static bool (*asked)(void);

static void entered(object observer, unsigned long activity, void *info) {
    (void)activity;
    (void)info;
    if (!asked()) return;
    // Out of the mode's list, in which an observer that has not returned from its callout would stay for ever.
    CFRunLoopObserverInvalidate(observer);
    // The frames in between are Core Foundation's own: C without clean-ups.
    longjmp(door, 1);
}

bool rl_foundation_leave_run(const void *mode, bool (*may_leave)(void)) {
    asked = may_leave;
    // The last of all: the others have returned, and Core Foundation has released them.
    object const observer = CFRunLoopObserverCreate(NULL, run_loop_entry, 1, LONG_MAX, entered, NULL);
    CFRunLoopAddObserver(CFRunLoopGetCurrent(), observer, mode);
    if (setjmp(door) == 0) {
        CFRunLoopRunInMode(mode, -1, 1);
        CFRunLoopObserverInvalidate(observer);
        CFRelease(observer);
        return false;
    }
    // Once for the list of observers that Core Foundation was working through.
    CFRelease(observer);
    CFRelease(observer);
    return true;
}

// MARK: A thread that asks

// Static: a thread that never gets the locks keeps it.
static struct {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    object loop;
    object mode;
    bool is_done;
} question = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, NULL, NULL, false};

static void *ask(void *unused) {
    (void)unused;
    CFRunLoopWakeUp(question.loop);
    CFRunLoopGetNextTimerFireDate(question.loop, question.mode);
    pthread_mutex_lock(&question.lock);
    question.is_done = true;
    pthread_cond_signal(&question.changed);
    pthread_mutex_unlock(&question.lock);
    return NULL;
}

bool rl_foundation_answers(const void *loop, const void *mode, int milliseconds) {
    question.loop = loop;
    question.mode = mode;
    question.is_done = false;
    // The program's signals are its own threads' business.
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    pthread_t thread;
    int const refusal = pthread_create(&thread, NULL, ask, NULL);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (refusal != 0) return false;
    struct timespec limit;
    clock_gettime(CLOCK_REALTIME, &limit);
    limit.tv_sec += milliseconds / 1000;
    limit.tv_nsec += milliseconds % 1000 * 1000000L;
    if (limit.tv_nsec >= 1000000000L) {
        limit.tv_sec += 1;
        limit.tv_nsec -= 1000000000L;
    }
    pthread_mutex_lock(&question.lock);
    while (!question.is_done && pthread_cond_timedwait(&question.changed, &question.lock, &limit) != ETIMEDOUT) {}
    bool const is_done = question.is_done;
    pthread_mutex_unlock(&question.lock);
    if (is_done) {
        pthread_join(thread, NULL);
    } else {
        pthread_detach(thread);
    }
    return is_done;
}
