// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

/* One loop: its tables, and how it looks and sleeps. Its runs are in run.pml.
 *
 * Stands for Sources/Core/RunLoops/Turn/{Sleep,Callouts,Guest}.swift and the parts of Tables and
 * Kernel/EpollReadiness.swift that other threads touch. One item stands for all of its kind in a mode.
 * Who goes first among what is ready is left open: every order is tried.
 */

#include "word.pml"

#define FOREVER 0
#define TIMER 1

/* RunState.Limit */
#define NEVER 0
#define UNTIL 1
#define HOSTED 2

/* Cause */
#define NONE 0
#define NOTHING 1
#define TIMERS 2
#define DESCRIPTOR 3
#define MAIN_QUEUE 4

/* RunResult */
#define GOES_ON 0
#define STOPPED 1
#define TIMED_OUT 2

/* RunLoop.lock(); no thread that has it waits for anything else. */
bool loopLock;
inline takeLock() { d_step { !loopLock -> loopLock = true } }
inline giveLockBack() { loopLock = false }

/* Sleep.mode, Sleep.limit: guarded by the lock. */
#define NO_MODE 9
byte sleepMode = NO_MODE, sleepLimit;

/* MARK: Blocks: Tables/BlockQueue.swift */

bool queueLock, hasIncoming;
byte incoming[MODES], waiting[MODES];
byte posted[MODES], ran[MODES];

/* BlockQueue.push(_:) */
inline push(m) {
    d_step { !queueLock -> queueLock = true; incoming[m]++; posted[m]++ }
    hasIncoming = true;
    queueLock = false
}

/* BlockQueue.absorb(): what the lock guards is one step. */
inline absorb() {
#ifdef MARK_IS_CLEARED_AFTER_THE_BLOCKS_ARE_TAKEN
    d_step {
        !queueLock -> waiting[0] = waiting[0] + incoming[0]; waiting[1] = waiting[1] + incoming[1];
        incoming[0] = 0; incoming[1] = 0
    }
    hasIncoming = false
#else
    d_step {
        !queueLock -> hasIncoming = false;
        waiting[0] = waiting[0] + incoming[0]; waiting[1] = waiting[1] + incoming[1];
        incoming[0] = 0; incoming[1] = 0
    }
#endif
}

/* BlockQueue.hasBlock(in:isCommon:), hasWakingBlock(in:isCommon:) */
inline findBlock(m, found) {
    if
    :: !hasIncoming && waiting[0] + waiting[1] == 0 -> found = false
    :: else ->
        if :: hasIncoming -> absorb() :: else fi;
        found = waiting[m] > 0
    fi
}

/* RunLoop.runBlocks(_:), BlockQueue.drain(in:isCommon:run:) */
inline runBlocks(m) {
    if
    :: !hasIncoming && waiting[0] + waiting[1] == 0
    :: else ->
        if :: hasIncoming -> absorb() :: else fi;
        if
        :: waiting[m] > 0 -> d_step { ran[m] = ran[m] + waiting[m]; waiting[m] = 0 }; callOut()
        :: else
        fi
    fi
}

/* MARK: Signals. What happens between Source.signal() and the queue of a mode is in signals.pml. */

bool isSignalled[MODES];

/* RunLoop.performSources(_:_:) */
inline performSources(m, didPerform) {
    d_step { didPerform = isSignalled[m]; isSignalled[m] = false };
    if
    :: didPerform -> callOut(); runBlocks(m)
    :: else
    fi
}

/* MARK: Timers: guarded by the lock. The date is some time to come; the process Clock makes it pass. */

bool hasTimer[MODES], isDue[MODES];
byte timersAdded, timersFired;
bool guestTimer; /* the guest's timer descriptor is set to the date of the timer of the guest's mode */

/* MARK: Descriptors: Tables/DescriptorTable.swift, Kernel/EpollReadiness.swift */

bool isRegistered[MODES], isReadable[MODES];
bool readinessNews[MODES];   /* EpollReadiness.hasNews */
bool seenEpoll[MODES];       /* EpollReadiness.seen */
bool isFetched[MODES];       /* LoopMode.ready */
byte descriptorsServed;
bool linkedEpoll;            /* the mode's epoll is in the guest's */

/* EpollReadiness.register(_:for:token:), makeEpoll(), tellNews(); with the loop's lock held. */
inline register(m) {
    d_step {
        if :: !hasEpoll[m] -> hasEpoll[m] = true; edge[m] = wasWritten; readinessNews[m] = true :: else fi;
        isRegistered[m] = true
    }
}

/* MARK: The main queue: libdispatch writes to the descriptor when the queue is no longer empty. */

#ifdef HAS_MAIN_QUEUE
byte queuedWork, doneWork, postedWork;
bool queueIsReadable, queueIsWatched[MODES];
#define QUEUE_SHOWS(m) (queueIsWatched[m] && queueIsReadable)
#else
#define QUEUE_SHOWS(m) false
#endif

/* MainQueue.takeReadiness() */
inline takeReadiness(wasReadable) { d_step { wasReadable = queueIsReadable; queueIsReadable = false } }

/* MARK: Guest: Turn/Guest.swift, Kernel/EpollGuest.swift */

bool isGuest;
byte guestMode, blocksSeen;
/* What epoll_wait on the guest's epoll would report. */
#define GUEST_IS_READABLE \
    (guestEdge || (guestTimer && isDue[guestMode]) || \
     (linkedEpoll && ((isRegistered[guestMode] && isReadable[guestMode]) || edge[guestMode])))

/* RunLoop.leaveHost(), EpollGuest.awaken() */
inline leaveHost() {
    if
    :: isGuest && phase == IN_HOST -> wordLeavesHost(); guestEdge = false
#ifndef A_GUEST_MAY_BE_AWAKE_WHEN_IT_ENTERS_THE_HOST
    :: isGuest && phase == AWAKE -> wordLeavesHost()
#endif
    :: else
    fi
}

/* RunLoop.waitInHost(isReady:). `asks` stands for isReady == nil. */
inline waitInHost(isReady, asks) {
    leaveHost();
    if
    :: asks -> findBlock(guestMode, isReady); isReady = isReady || isSignalled[guestMode]
    :: else
    fi;
    findBlock(guestMode, found); isReady = isReady || found;
    blocksSeen = waiting[0] + waiting[1];
    takeLock(); setGuest(); enterHost(isReady); giveLockBack();
#ifdef GUEST_IS_SILENCED_AFTER_IT_HAS_ENTERED_THE_HOST
    guestEdge = false;
#endif
    if :: isReady -> sleeper = IN_HOST; kernelWake(sleeper) :: else fi
}

/* With the lock held: Sleep is set, and the guest's descriptor follows. After a sleep outside the host it empties the wake
 * descriptor, EpollGuest.speak(): what was written until now is no edge any more, in no epoll.
 */
inline setGuest() {
    if :: d_step { guestEdge = false; edge[0] = false; edge[1] = false; wasWritten = false } :: skip fi;
    d_step {
        sleepMode = guestMode;
        sleepLimit = (hasTimer[guestMode] -> TIMER : FOREVER);
        linkedEpoll = hasEpoll[guestMode];
        guestTimer = hasTimer[guestMode]
    }
}

/* MARK: Looking and sleeping: Turn/Sleep.swift */

#define IS_READY(m) (isRegistered[m] && isReadable[m])

/* RunLoop.prepareToLook(_:_:), watchMainQueue(_:_:_:): descriptors that were taken out are left out here. */
inline prepareToLook(m) {
#ifdef HAS_MAIN_QUEUE
    if
    :: queueIsWatched[m] -> skip
    :: else ->
        takeLock();
        d_step {
            if :: !hasEpoll[m] -> hasEpoll[m] = true; edge[m] = wasWritten; readinessNews[m] = true :: else fi;
            queueIsWatched[m] = true
        }
        giveLockBack()
    fi;
#endif
    foundQueue = false
}

/* EpollReadiness.takeNews(): guarded by the readiness' lock. */
inline takeNews(m) { d_step { readinessNews[m] -> readinessNews[m] = false; seenEpoll[m] = hasEpoll[m] } }

/* epoll_wait: reports what is ready, and the edge of the wake descriptor, once. */
inline fetch(m) {
    d_step {
        edge[m] = false;
        if :: IS_READY(m) -> isFetched[m] = true :: else fi;
        if :: QUEUE_SHOWS(m) -> foundQueue = true :: else fi
    }
}

/* EpollReadiness.look(into:) */
inline lookAtDescriptors(m) {
    if :: readinessNews[m] -> takeNews(m) :: else fi;
    if :: seenEpoll[m] -> fetch(m) :: else fi
}

/* EpollReadiness.wait(_:until:into:), sleepOnWord, sleepOnEpoll */
inline waitFor(m, limit, mayEnd) {
#ifndef NEWS_OF_DESCRIPTORS_IS_TAKEN_BEFORE_THE_ANNOUNCEMENT
    if :: readinessNews[m] -> takeNews(m) :: else fi;
#endif
    if
    :: !seenEpoll[m] ->
        fallAsleep(ON_WORD, maySleep);
        if
        :: maySleep ->
progressAsleepOnTheWord:
            futexWait((limit == TIMER && isDue[m]) || mayEnd)
        :: else
        fi
    :: else ->
        fallAsleep(ON_DESCRIPTORS, maySleep);
        if
        :: maySleep ->
            /* epoll_wait, which only the first of these ends without a cause */
progressAsleepOnDescriptors:
            atomic {
                (edge[m] || IS_READY(m) || QUEUE_SHOWS(m) || (limit == TIMER && isDue[m]) || mayEnd) -> fetch(m)
            }
        :: else -> fetch(m)
        fi
    fi
}

/* RunLoop.longestReady(_:_:): any of what is ready may have been ready longest. */
inline longestReady(m, cause) {
    wakeUpWaits = hasStamp;
    cause = NONE;
    if
    :: wakeUpWaits -> serveWakeUp(); cause = NOTHING
    :: hasTimer[m] && isDue[m] -> cause = TIMERS
    :: isFetched[m] -> cause = DESCRIPTOR
    :: !wakeUpWaits && !isFetched[m] && foundQueue ->
#ifdef HAS_MAIN_QUEUE
        takeReadiness(isReadyNow);
        if :: isReadyNow -> cause = MAIN_QUEUE :: else fi
#else
        skip
#endif
    :: !wakeUpWaits && !(hasTimer[m] && isDue[m]) && !isFetched[m] && !foundQueue -> skip
    fi
}

/* RunLoop.findReady(_:_:) */
inline findReady(m, cause) {
    prepareToLook(m);
    if :: !isFetched[m] -> lookAtDescriptors(m) :: else fi;
    longestReady(m, cause)
}

/* RunLoop.prepareToSleep(_:isAwakeAnyway:) */
inline prepareToSleep(m, isAwakeAnyway, limit, mustLook) {
#ifdef LIMIT_IS_TOLD_OUTSIDE_THE_LOCK
    takeLock();
    d_step { limit = (hasTimer[m] -> TIMER : FOREVER); mustLook = isAwakeAnyway || (hasTimer[m] && isDue[m]) };
    giveLockBack();
    d_step { sleepMode = m; sleepLimit = limit }
#else
    takeLock();
    d_step {
        limit = (hasTimer[m] -> TIMER : FOREVER);
        sleepMode = m; sleepLimit = limit;
        mustLook = isAwakeAnyway || (hasTimer[m] && isDue[m])
    }
    giveLockBack()
#endif
}

/* RunLoop.sleepUntilReady(_:_:) */
inline sleepUntilReady(m, kind, cause) {
    leaveHost();
#ifdef NESTED_RUNS_TAKE_THE_BLOCKS_OF_OTHERS
    hasBlock = false;
#else
#ifdef LOOKS_BEFORE_IT_ANNOUNCES
    findBlock(m, hasBlock);
    phase = GOING;
#else
    findBlock(m, hasBlock);
#endif
#endif
#ifdef NEWS_OF_DESCRIPTORS_IS_TAKEN_BEFORE_THE_ANNOUNCEMENT
    if :: readinessNews[m] -> takeNews(m) :: else fi;
#endif
    do
    :: true ->
        prepareToLook(m);
        isAwakeAnyway = hasBlock || hasStamp || isFetched[m];
        prepareToSleep(m, isAwakeAnyway, limit, mustLook);
        if
        :: isFetched[m]
        :: !isFetched[m] && mustLook -> lookAtDescriptors(m)
        :: else -> waitFor(m, limit, kind == UNTIL)
        fi;
        longestReady(m, cause);
        if
        :: cause != NONE -> break
        :: cause == NONE && (hasBlock || isStopped) -> cause = NOTHING; break
        :: cause == NONE && kind == UNTIL -> isOver = true; cause = NOTHING; break /* run.deadline has come */
        :: else
        fi
    od
}
