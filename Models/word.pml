// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

/* The wake word and the kernel that a thread sleeps in.
 *
 * Stands for Sources/Core/RunLoops/Kernel/WakeWord.swift, EpollWaker.swift and the waiting half of EpollReadiness.swift.
 * Each d_step on the word is one sequentially consistent operation on one atomic. A compare-exchange that fails is tried
 * again with what it found, so only the exchange that succeeds is a step.
 */

#define AWAKE 0
#define GOING 1
#define ON_WORD 2
#define ON_DESCRIPTORS 3
#define IN_HOST 4
#define NOBODY 0 /* the result nil of wake, stop and lookAgain: no call to the kernel */

/* The word, bit by bit. A stamp stands for the instant of a waiting wake-up: who goes first is no subject here. */
byte phase = AWAKE;
bool inRun, isStopped, hasNews, hasStamp;

/* What the model remembers to judge by; the code has nothing like it. */
byte wakersChosen;          /* calls to the kernel since the thread last took notice of news */
byte runsBegun;             /* the number of the newest run; all runs in a host have the number 3 */
byte innermost;             /* the number of the innermost run in progress; 0 for none */
byte innermostMode;
bool wasStoppedBefore;      /* what the word said when the turn began */
bool wasStopped[4];         /* runs, by number, that a stop was meant for */
hidden byte oneCallForEachSleep, everyPhaseIsOneOfFive, noTurnOfAStoppedRun, noStopForAnotherRun;

/* The properties are named when they are checked: pan prints the name. */
#define CHECK(property, condition) d_step { property = (condition); assert(property); property = false }

#define NOTICED wakersChosen = 0

/* MARK: Any thread */

/* WakeWord.request(stop:) */
inline request(stops, sleeper) {
    d_step {
        sleeper = NOBODY;
        if
        :: stops && !inRun -> skip
        :: else ->
            if
            :: stops -> isStopped = true; wasStopped[innermost] = true
            :: else
            fi;
            if
            :: phase != AWAKE && !hasStamp ->
                if
#ifdef EVERY_WAKER_CALLS_THE_KERNEL
                :: phase >= ON_WORD -> sleeper = phase; wakersChosen++
#else
                :: phase >= ON_WORD && !hasNews -> sleeper = phase; wakersChosen++
#endif
                :: else
                fi;
                hasStamp = true; hasNews = true
            :: else
            fi
        fi;
        oneCallForEachSleep = wakersChosen <= 1;
        assert(oneCallForEachSleep);
        oneCallForEachSleep = false
    }
}

/* WakeWord.lookAgain() */
inline lookAgain(sleeper) {
    d_step {
        sleeper = NOBODY;
        if
        :: phase != AWAKE ->
            if
            :: phase >= ON_WORD && !hasNews -> sleeper = phase; wakersChosen++
            :: else
            fi;
            hasNews = true
        :: else
        fi;
        oneCallForEachSleep = wakersChosen <= 1;
        assert(oneCallForEachSleep);
        oneCallForEachSleep = false
    }
}

/* MARK: The loop's thread */

/* The first operation of WakeWord.beginTurn(); the second is serveStop. */
inline beginTurn(mustStop) {
    d_step {
        everyPhaseIsOneOfFive = phase == AWAKE || phase == GOING;
        assert(everyPhaseIsOneOfFive);
        everyPhaseIsOneOfFive = false;
        wasStoppedBefore = isStopped;
#ifdef NO_LOOK_AT_STOP_WHEN_A_TURN_BEGINS
        mustStop = false;
#else
        mustStop = isStopped;
#endif
#ifndef LOOKS_BEFORE_IT_ANNOUNCES
        phase = GOING
#endif
    }
}

/* WakeWord.beAwake() */
inline beAwake() { d_step { phase = AWAKE; hasNews = false; NOTICED } }

/* WakeWord.serveWakeUp() */
#ifdef WAKE_UP_IS_NEVER_TAKEN
inline serveWakeUp() { d_step { hasNews = false; NOTICED } }
#else
inline serveWakeUp() { d_step { hasNews = false; hasStamp = false; NOTICED } }
#endif

/* WakeWord.serveStop() */
inline serveStop() { isStopped = false }

/* WakeWord.enterHost() */
inline enterHost(isReady) {
    d_step {
#ifndef HOST_IS_ENTERED_WITHOUT_A_LOOK_AT_NEWS
        if :: hasNews || hasStamp -> isReady = true :: else fi;
#endif
        phase = IN_HOST; hasNews = false; NOTICED
    }
}

/* WakeWord.leaveHost() */
inline wordLeavesHost() { d_step { phase = GOING; hasNews = false; NOTICED } }

/* WakeWord.fallAsleep(_:) */
inline fallAsleep(where, maySleep) {
#ifdef FALLS_ASLEEP_IN_TWO_STEPS
    maySleep = !(hasNews || isStopped || hasStamp);
    d_step { if :: maySleep -> phase = where :: else -> hasNews = false fi; NOTICED }
#else
    d_step {
#ifdef A_STOPPED_RUN_MAY_SLEEP
        maySleep = !(hasNews || hasStamp);
#else
        maySleep = !(hasNews || isStopped || hasStamp);
#endif
        if
        :: maySleep -> phase = where; fellAsleepStopped = isStopped
        :: else -> hasNews = false
        fi;
        NOTICED
    }
#endif
}

/* MARK: The kernel */

#define MODES 2

bool inFutex;                /* the thread is in FUTEX_WAIT on the word */
bool fellAsleepStopped;      /* the bit of the stop in the word that fallAsleep has left */
bool hasEpoll[MODES];        /* EpollReadiness.epoll, made with the first descriptor */
bool edge[MODES];            /* the wake descriptor has an edge that the mode's epoll has not reported */
bool guestEdge;              /* the same in the guest's epoll */
bool wasWritten;             /* the wake descriptor is readable: an epoll that it is put into begins with an edge */

/* EpollWaker.wake(_:_:): one system call. An edge goes to every epoll that the wake descriptor is in. */
inline kernelWake(sleeper) {
    d_step {
        if
        :: sleeper == ON_WORD -> inFutex = false
        :: sleeper == ON_DESCRIPTORS || sleeper == IN_HOST ->
            edge[0] = hasEpoll[0]; edge[1] = hasEpoll[1]; guestEdge = true; wasWritten = true
        :: else
        fi;
        sleeper = NOBODY
    }
}

/* FUTEX_WAIT compares the lower half of the word with what fallAsleep has left, and sleeps, in one step. */
inline futexWait(endsByItself) {
    d_step {
#ifdef FUTEX_COMPARES_NOTHING
        inFutex = true
#else
        inFutex = phase == ON_WORD && !hasNews && isStopped == fellAsleepStopped
#endif
    }
    if
    :: !inFutex
    :: endsByItself -> inFutex = false
    fi
}
