// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

#define _GNU_SOURCE
#include "Scheduling.h"
#include "Results.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

// The part of what sched_getattr writes that is read here; not every version of the C library has a name for it.
struct attributes {
    uint32_t size, policy;
    uint64_t flags;
    int32_t nice;
    uint32_t priority;
    uint64_t runtime, deadline, period;
};

static int read_schedule(int32_t thread, struct rl_schedule *schedule) {
    struct attributes found = {0};
    if (syscall(SYS_sched_getattr, thread, &found, sizeof found, 0) != 0) return -errno;
    *schedule = (struct rl_schedule){
        .policy = (int32_t)found.policy, .priority = (int32_t)found.priority, .resets = found.flags & 1};
    if (rl_schedule_shares(schedule) || found.policy == SCHED_IDLE) schedule->nice = found.nice;
    return 0;
}

// Numbers are used again, also for other processes.
static int check_thread(int32_t process, int32_t thread) { return result((int)syscall(SYS_tgkill, process, thread, 0)); }

int rl_schedule_read(int32_t thread, struct rl_schedule *schedule) {
    // The threads of other processes are not this process's to change.
    int failure = thread == 0 ? 0 : check_thread(getpid(), thread);
    return failure ? failure : read_schedule(thread, schedule);
}

int rl_schedule_read_in(int32_t process, int32_t thread, struct rl_schedule *schedule) {
    int failure = check_thread(process, thread);
    if (failure == 0) failure = read_schedule(thread, schedule);
    // Again: the thread may have ended in between, and a thread of another process have its number.
    return failure ? failure : check_thread(process, thread);
}

static int set(int32_t thread, const struct rl_schedule *schedule, bool resets) {
    // The older call, which leaves the nice value and the time slice unchanged.
    struct sched_param parameters = {.sched_priority = schedule->priority};
    return result(sched_setscheduler(thread, schedule->policy | (resets ? SCHED_RESET_ON_FORK : 0), &parameters));
}

int rl_schedule_change(int32_t thread, const struct rl_schedule *from, const struct rl_schedule *to) {
    int code = 0;
    if (from->policy != to->policy || from->priority != to->priority || from->resets != to->resets) {
        code = set(thread, to, to->resets);
        // Removing the mark takes a privilege. The mark means nothing in a class that shares, with a nice value of 0 or
        // more.
        if (code == -EPERM && !to->resets) code = set(thread, to, true);
    }
    // Under a real-time class the nice value stays unused and unchanged.
    if (code == 0 && to->priority == 0 && from->priority == 0 && from->nice != to->nice)
        code = result(setpriority(PRIO_PROCESS, (id_t)thread, to->nice));
    return code;
}

bool rl_schedule_is_usual(void) {
    static _Thread_local bool is_known;
    struct rl_schedule schedule;
    if (is_known) return true;
    is_known = rl_schedule_read(0, &schedule) == 0 && schedule.policy == SCHED_OTHER && schedule.nice == 0;
    return is_known;
}

int rl_schedule_rank(const struct rl_schedule *schedule) {
    switch (schedule->policy) {
    case SCHED_FIFO:
    case SCHED_RR: return 100 + schedule->priority;
    case SCHED_OTHER:
    case SCHED_BATCH: return 20 - schedule->nice;
    case SCHED_IDLE: return 0;
    default: return -1;
    }
}

bool rl_schedule_shares(const struct rl_schedule *schedule) {
    return schedule->policy == SCHED_OTHER || schedule->policy == SCHED_BATCH;
}

void rl_schedule_yield(void) { sched_yield(); }
