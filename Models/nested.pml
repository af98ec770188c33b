// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

/* A run in mode 0, one of whose callouts, any, runs the loop once more, in mode 1; and stops. The nested run ends by its
 * limit, which may come at any time, or only by a stop. LATER_RUN: a second run follows the first.
 */

#include "loop.pml"

inline nest() {
    if
    :: run Run(level + 1, 1, UNTIL)
    :: run Run(level + 1, 1, NEVER)
    fi;
    hasEnded[level + 1]
}

#include "run.pml"
#include "threads.pml"

hidden byte noLostWakeUp, noSleepOverBlocks, noSleepOverSignals, noSleepOverTimers, noMissedStop, nothingTwice,
    everyRunEnds;

bool isDone;

/* The innermost run waits in the kernel and no thread is on its way to wake it. Then its stop comes. */
proctype Watch() {
    byte sleeper;
    do
    :: timeout ->
        if
        :: isDone -> break
        :: else ->
            CHECK(everyRunEnds, innermost > 0);
            CHECK(noLostWakeUp, !hasStamp);
            CHECK(noMissedStop, !wasStopped[innermost]);
            CHECK(noSleepOverBlocks, ran[innermostMode] == posted[innermostMode]);
            CHECK(noSleepOverTimers, !(hasTimer[innermostMode] && isDue[innermostMode]));
#ifdef SIGNALS_REACH_THE_OUTER_RUN
            CHECK(noSleepOverSignals, !isSignalled[innermostMode]);
#endif
            CHECK(nothingTwice, ran[0] <= posted[0] && ran[1] <= posted[1] && timersFired <= timersAdded);
            stopInnermost()
        fi
    od
}

proctype Owner() {
    run Run(0, 0, NEVER);
    hasEnded[0];
#ifdef LATER_RUN
    hasEnded[0] = false;
    run Run(0, 0, NEVER);
    hasEnded[0];
#endif
    isDone = true
}

init {
    atomic {
        nestedLeft = 1;
        run Owner();
        THREADS
        run Watch()
    }
}
