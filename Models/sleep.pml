// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

/* One run in one mode, and the threads that -D names. When nothing moves any more, everything was served; then a last
 * stop ends the run.
 */

#include "loop.pml"

inline nest() { skip }

#include "run.pml"
#include "threads.pml"

hidden byte noLostWakeUp, noSleepOverBlocks, noSleepOverSignals, noSleepOverTimers, noSleepOverDescriptors,
    noSleepOverTheMainQueue, noMissedStop, nothingTwice, theRunEndsByTheStop;

/* The loop waits in the kernel and no thread is on its way to wake it. */
proctype Watch() {
    byte sleeper;
    timeout ->
        CHECK(noLostWakeUp, result[0] == STOPPED || !hasStamp);
        CHECK(noSleepOverBlocks, result[0] == STOPPED || ran[0] == posted[0]);
        CHECK(noSleepOverSignals, result[0] == STOPPED || !isSignalled[0]);
        CHECK(noSleepOverTimers, result[0] == STOPPED || timersFired == timersAdded);
        CHECK(noSleepOverDescriptors, result[0] == STOPPED || !(isRegistered[0] && isReadable[0]));
        CHECK(nothingTwice, ran[0] <= posted[0] && timersFired <= timersAdded);
#ifdef HAS_MAIN_QUEUE
        CHECK(noSleepOverTheMainQueue, result[0] == STOPPED || doneWork == postedWork);
#endif
        CHECK(noMissedStop, !wasStopped[1] || result[0] == STOPPED);
    stopInnermost();
    timeout ->
        CHECK(theRunEndsByTheStop, result[0] == STOPPED)
}

init {
    atomic {
#ifdef EPOLL_FROM_THE_START
        hasEpoll[0] = true; seenEpoll[0] = true;
#endif
        run Run(0, 0, NEVER);
        THREADS
        run Watch()
    }
}
