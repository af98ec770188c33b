// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

/* The runs of a loop, turn by turn.
 *
 * Stands for Sources/Core/RunLoops/Turn/Turn.swift, RunLoop/RunLoop+Running.swift and RunLoop/RunLoop+Guest.swift. A model that
 * includes this file defines nest(): what a callout does that runs the loop again.
 */

/* RunLoop.runs: guarded by the lock. How many runs are in progress, their numbers, innermost last, and whether a run was
 * stopped while another one was nested in it. */
byte depth;
byte numbers[3];
bool isStoppedFromOutside[3];

bool hasEnded[3];
byte result[3];
byte nestedLeft;             /* how many nested runs the callouts of this execution may still make */
byte turnsInARow;            /* RunLoop.turnsInARow, made small */

/* A callout; the user's code may run the loop again, in any mode. */
inline callOut() {
    if
    :: nestedLeft > 0 && level < 2 -> d_step { nestedLeft--; hasEnded[level + 1] = false };
        nest()
    :: skip
    fi
}

/* RunLoop.run(_:_:returnsAfterSource:) and RunLoop.runReady(in:servingMainQueue:), from begin to end. */
proctype Run(byte level; byte mode; byte kind) {
#ifdef HAS_MAIN_QUEUE
    bool didMainQueue = true;
#endif
    bool found, hasBlock, isAwakeAnyway, mustLook, maySleep, wakeUpWaits, foundQueue, isReadyNow, didPerform, isOver,
        mustStop;
    byte limit, cause, turns, number, outerPhase, outerNumber, outerMode, sleeper;
    bool outerRun, outerStop, isReady;

    /* RunLoop.begin(_:in:), WakeWord.beginRun() */
    leaveHost();
    takeLock();
    d_step {
        if :: kind == HOSTED -> number = 3 :: else -> runsBegun++; number = runsBegun fi;
        depth++; numbers[level] = number;
        isStoppedFromOutside[level] = false;
        outerPhase = phase; outerRun = inRun; outerStop = isStopped; outerNumber = innermost;
        outerMode = innermostMode;
        innermost = number; innermostMode = mode;
#ifndef STOP_IS_LEFT_WHEN_A_RUN_BEGINS
        isStopped = false;
#endif
        inRun = true; phase = GOING
    }
    giveLockBack();
    callOut(); /* .entry */

    do
    :: true ->
        /* RunLoop.turn(_:in:) */
        leaveHost();
        beginTurn(mustStop);
        if
        :: mustStop -> serveStop(); result[level] = STOPPED; break
        :: else -> CHECK(noTurnOfAStoppedRun, !wasStoppedBefore)
        fi;
        callOut(); /* .beforeTimers, .beforeSources */
        runBlocks(mode);
        performSources(mode, didPerform);
        cause = NONE;
#ifdef HAS_MAIN_QUEUE
        if /* RunLoop.mainQueueGoesFirst(_:) */
        :: didMainQueue -> skip
        :: else -> takeReadiness(isReadyNow); if :: isReadyNow -> cause = MAIN_QUEUE :: else fi
        fi;
#endif
        if
        :: cause != NONE
        :: cause == NONE && didPerform -> findReady(mode, cause)
        :: cause == NONE && !didPerform && kind == HOSTED ->
            findReady(mode, cause);
            if :: cause == NONE -> findBlock(mode, found); cause = (found -> NOTHING : NONE) :: else fi;
            if :: cause == NONE -> result[level] = TIMED_OUT; break :: else fi
        :: else ->
            callOut(); /* .beforeWaiting */
            sleepUntilReady(mode, kind, cause);
            beAwake();
            callOut() /* .afterWaiting */
        fi;
        beAwake();
        /* RunLoop.serve(_:_:_:) */
        if
        :: cause == TIMERS ->
            takeLock();
            d_step { if :: hasTimer[mode] && isDue[mode] ->
                hasTimer[mode] = false; isDue[mode] = false; timersFired++ :: else fi };
            giveLockBack();
            callOut()
        :: cause == DESCRIPTOR ->
            d_step { if :: isFetched[mode] && isRegistered[mode] && isReadable[mode] ->
                isReadable[mode] = false; descriptorsServed++ :: else fi; isFetched[mode] = false };
            callOut()
#ifdef HAS_MAIN_QUEUE
        :: cause == MAIN_QUEUE ->
            d_step { doneWork = doneWork + queuedWork; queuedWork = 0 }
#ifdef QUEUE_IS_EMPTIED_BEFORE_ITS_DESCRIPTOR
            ; queueIsReadable = false
#endif
#endif
        :: else
        fi;
#ifdef HAS_MAIN_QUEUE
        didMainQueue = cause == MAIN_QUEUE;
#endif
        runBlocks(mode);
        /* RunLoop.verdict(_:_:handled:) */
        if
        :: kind == UNTIL && isOver -> result[level] = TIMED_OUT; break
        :: isStopped -> serveStop(); result[level] = STOPPED; break
        :: else
        fi;
        if /* RunLoop.runReady(in:servingMainQueue:) */
        :: kind == HOSTED -> turns++; if :: turns == turnsInARow -> result[level] = GOES_ON; break :: else fi
        :: else
        fi
    od;
    /* RunLoop.end(_:in:_:), WakeWord.endRun(_:isStopped:) */
    callOut(); /* .exit */
    d_step {
        noStopForAnotherRun = result[level] != STOPPED || wasStopped[number];
        assert(noStopForAnotherRun);
        noStopForAnotherRun = false
    }
    takeLock();
    d_step {
        depth--;
        innermost = outerNumber; innermostMode = outerMode;
        phase = outerPhase; inRun = outerRun;
#ifdef A_NESTED_RUN_SWALLOWS_THE_STOP_OF_THE_OUTER
        isStopped = false
#else
#ifdef A_STOP_OUTLIVES_ITS_RUN
        isStopped = isStopped || outerStop || (level > 0 && isStoppedFromOutside[level - 1])
#else
        isStopped = outerStop || (level > 0 && isStoppedFromOutside[level - 1])
#endif
#endif
    }
    giveLockBack();
    if
    :: isGuest && kind != HOSTED -> waitInHost(isReady, true)
    :: else
    fi;
    hasEnded[level] = true
}
