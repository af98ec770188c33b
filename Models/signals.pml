// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

/* Two sources and the queue of one mode: threads signal, one of them makes a source invalid, another adds it, and the loop's
 * thread takes what is queued.
 *
 * Stands for Tables/SignalQueue.swift (the stack of places, step by step), Items/CallWord.swift, Source.signal(),
 * perform(_:), enter, leave and invalidate, and RunLoop.performSources(_:_:). Each access to an atomic is a step.
 */

#define SOURCES 2
#define NIL 9
#ifndef THREAD_COUNT
#define THREAD_COUNT 4 /* of THREADS */
#endif

/* CallWord */
bool isSignalled[SOURCES], isInvalid[SOURCES];
byte calls[SOURCES];
/* SignalQueue.Place, one for each source */
bool isQueued[SOURCES], isPresent[SOURCES];
byte next[SOURCES];
/* SignalQueue.newest */
byte newest = NIL;
/* Source.performer is there until it is released. */
bool isReleased[SOURCES];

byte signalled[SOURCES], performed[SOURCES]; /* signals that CallWord.signal has taken; calls */
bool isWanted[SOURCES];       /* a thread has signalled since the closure looked at its work */
byte signallers;

hidden byte noSignalIsLost, noDoublePerform, noCallAfterTheRelease, releasedOnce, everyInvalidSourceIsReleased,
    noPlaceInTheQueueTwice;

#define CHECK(property, condition) d_step { property = (condition); assert(property); property = false }

/* SignalQueue.push(_:) */
inline push(s) {
    old = newest;
    do
    :: true ->
        next[s] = old;
        atomic { if :: newest == old -> newest = s; break :: else -> old = newest fi }
    od
}

/* SignalQueue.Place.enqueue() */
inline enqueue(s) {
    atomic { was = isQueued[s]; isQueued[s] = true };
    if :: !was -> push(s) :: else fi
}

/* Source.signal(), CallWord.signal(_:) */
inline signal(s) {
#ifdef PLACE_IS_QUEUED_BEFORE_THE_MARK
    if :: isPresent[s] -> enqueue(s) :: else fi;
    atomic { if :: !isSignalled[s] && !isInvalid[s] -> isSignalled[s] = true; signalled[s]++ :: else fi }
#else
    atomic {
        isNew = !isSignalled[s] && !isInvalid[s];
        if :: isNew -> isSignalled[s] = true; signalled[s]++ :: else fi
    };
    if
    :: isNew -> if :: isPresent[s] -> enqueue(s) :: else fi
    :: else
    fi
#endif
}

proctype Signaller(byte s) {
    bool isNew, was;
    byte old;
    isWanted[s] = true;
    signal(s);
    signallers--
}

/* Source.enter(_:of:), of a source that has been in the mode before, and Source.leave; the lock is the source's and the
 * loop's, which nobody else here takes. */
proctype Mover(byte s) {
    bool was;
    byte old;
    isPresent[s] = false;
    isPresent[s] = true;
#ifndef SIGNAL_BEFORE_THE_ADDING_IS_NOT_LOOKED_AT
    if :: isSignalled[s] -> enqueue(s) :: else fi;
#endif
    signallers--
}

inline releasePerformer(s) { CHECK(releasedOnce, !isReleased[s]); isReleased[s] = true }

#ifdef INVALIDATION_RELEASES_DURING_A_CALL
#define NO_CALL_UNDER_WAY(s) true
#else
#define NO_CALL_UNDER_WAY(s) (calls[s] == 0)
#endif

/* Source.invalidate(), CallWord.becomeInvalid() */
proctype Invalidator(byte s) {
    bool isLast;
    d_step { isLast = NO_CALL_UNDER_WAY(s); isSignalled[s] = false; isInvalid[s] = true };
    isPresent[s] = false;
    if :: isLast -> releasePerformer(s) :: else fi;
    signallers--
}

/* Source.perform(_:), CallWord.beginIfSignalled(), end() */
inline perform(s) {
    d_step {
        was = isSignalled[s];
        if
        :: was -> calls[s]++;
#if !defined(SIGNAL_IS_TAKEN_AFTER_THE_CALL) && !defined(SIGNAL_IS_NEVER_TAKEN)
            isSignalled[s] = false
#endif
        :: else
        fi
    };
    if
    :: was ->
        CHECK(noCallAfterTheRelease, !isReleased[s]);
        d_step { performed[s]++; isWanted[s] = false };
        CHECK(noDoublePerform, performed[s] <= signalled[s]);
#ifdef SIGNAL_IS_TAKEN_AFTER_THE_CALL
        isSignalled[s] = false;
#endif
#ifdef NOBODY_RELEASES_AFTER_THE_LAST_CALL
        calls[s]--
#else
        d_step { calls[s]--; was = isInvalid[s] && calls[s] == 0 };
        if :: was -> releasePerformer(s) :: else fi
#endif
    :: else
    fi
}

/* SignalQueue.Place.leaveQueue() */
inline leaveQueue(s) { next[s] = NIL; isQueued[s] = false }

inline take(s) {
#ifdef MARK_IS_READ_BEFORE_THE_PLACE_IS_FREE
    mayPerform = isPresent[s] && isSignalled[s];
    leaveQueue(s)
#else
    leaveQueue(s);
    mayPerform = isPresent[s];
    mayPerform = mayPerform && isSignalled[s]
#endif
}

/* RunLoop.performSources(_:_:): takeOnly, or performSeveral, again and again. */
proctype Loop() {
    bool was, mayPerform, hasTaken;
    byte first, second;
    do
    :: newest != NIL ->
        /* SignalQueue.takeOnly() */
        first = newest;
        hasTaken = false;
        if
        :: next[first] == NIL ->
            atomic { if :: newest == first -> newest = NIL; hasTaken = true :: else fi }
        :: else
        fi;
        if
        :: hasTaken -> take(first); if :: mayPerform -> perform(first) :: else fi
        :: else ->
            /* SignalQueue.takeAll(into:), RunLoop.performSeveral(_:onlyFirst:) */
            atomic { first = newest; newest = NIL };
            second = next[first];
            take(first);
            hasTaken = mayPerform;
            if
            :: second != NIL ->
                CHECK(noPlaceInTheQueueTwice, second != first);
                take(second);
                if :: mayPerform -> perform(second) :: else fi
            :: else
            fi;
            if :: hasTaken -> perform(first) :: else fi
        fi
    :: newest == NIL && signallers == 0 -> break
    od
}

proctype Watch() {
    timeout ->
        CHECK(noSignalIsLost, !(isWanted[0] && !isInvalid[0]) && !(isWanted[1] && !isInvalid[1]));
        CHECK(everyInvalidSourceIsReleased, isInvalid[0] == isReleased[0] && isInvalid[1] == isReleased[1])
}

init {
    atomic {
        isPresent[0] = true; isPresent[1] = true;
        next[0] = NIL; next[1] = NIL;
        signallers = THREAD_COUNT;
        run Loop();
        THREADS
        run Watch()
    }
}
