// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

/* A loop that is a guest: its thread sleeps in a host, which waits for the loop's descriptor and then calls runReady. One of
 * the callouts, any, waits in the host too. FIRST_ACCESS: the other threads do not wait until the loop is a guest.
 */

#include "loop.pml"

/* RunLoop.runReady(in:servingMainQueue:) */
inline runReady(depthOfHost) {
    run Run(depthOfHost, 0, HOSTED);
    hasEnded[depthOfHost];
    hasEnded[depthOfHost] = false;
    isReady = result[depthOfHost] != TIMED_OUT;
    waitInHost(isReady, false)
}

/* RunLoop.prepareToPoll(in:) */
inline prepareToPoll(mayNotWait) {
    if
    :: phase != IN_HOST -> waitInHost(isReady, true)
    :: else
    fi;
    mayNotWait = hasIncoming || waiting[0] + waiting[1] > blocksSeen;
    mayNotWait = mayNotWait || isSignalled[guestMode];
    mayNotWait = mayNotWait || hasStamp
}

bool quits, quitsInCallout;

/* A host inside a callout: it calls runReady or prepareToPoll before it waits, as the documentation asks. */
inline nest() {
    if
#ifdef HOST_IN_CALLOUT_BEGINS_WITH_A_RUN
    :: runReady(level + 1)
#endif
    :: prepareToPoll(isReadyNow);
        if :: isReadyNow -> runReady(level + 1) :: else fi
    fi;
    do
    :: GUEST_IS_READABLE -> runReady(level + 1)
    :: quitsInCallout -> break
    od;
    isReady = false;
    hasEnded[level + 1] = false
}

#include "run.pml"
#include "threads.pml"

hidden byte noLostWakeUp, noSleepOverBlocks, noSleepOverSignals, noSleepOverTimers, noSleepOverDescriptors, nothingTwice,
    theHostHasTheThread;

bool isDone;

/* A host waits, and no thread is on its way to make the descriptor readable. */
proctype Watch() {
    do
    :: timeout ->
        if
        :: isDone -> break
        :: else ->
            CHECK(theHostHasTheThread, phase == IN_HOST);
            CHECK(noLostWakeUp, !hasStamp);
            CHECK(noSleepOverBlocks, ran[0] == posted[0]);
            CHECK(noSleepOverSignals, !isSignalled[0]);
            CHECK(noSleepOverTimers, timersFired == timersAdded);
            CHECK(noSleepOverDescriptors, !(isRegistered[0] && isReadable[0]));
            CHECK(nothingTwice, ran[0] <= posted[0] && timersFired <= timersAdded);
            if
            :: !quitsInCallout -> quitsInCallout = true
            :: else -> quits = true
            fi
        fi
    od
}

/* The host and the loop have one thread. */
proctype Host() {
    bool found, isReady;
    byte sleeper;
    /* RunLoop.pollDescriptor, EpollGuest.init */
    takeLock();
    d_step { isGuest = true; guestEdge = wasWritten };
    giveLockBack();
    waitInHost(isReady, false);
#ifndef FIRST_ACCESS
    atomic { THREADS }
#endif
    do
    :: GUEST_IS_READABLE -> runReady(0)
    :: quits -> break
    od;
    isDone = true
}

init {
    atomic {
        nestedLeft = NESTED;
        turnsInARow = 2;
        run Host();
#ifdef FIRST_ACCESS
        THREADS
#endif
        run Watch()
    }
}
