// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

/* One source or descriptor source and two loops: threads add it, take it out, make it invalid and end a loop at the same time.
 *
 * Stands for Items/Source.swift and Items/DescriptorSource.swift (enter, leave, invalidate), RunLoop/RunLoop+Items.swift
 * (add, remove, discard) and RunLoop.threadEnds(). Timers and observers are in owner.pml.
 */

#define LOOPS 2

bool isValid = true;          /* Item.valid */
bool sourceLock;              /* the source's own lock; taken inside the loop's */
bool loopLock[LOOPS];
bool isDead[LOOPS];           /* RunLoop.isDead */
bool isInMode[LOOPS];         /* ModeState has the item */
bool isMember[LOOPS];         /* Source.memberships, DescriptorSource.loops */

hidden byte noItemLeftBehind, membershipsMatch, oneInvalidation, noItemInADeadLoop;
byte invalidations;

#define CHECK(property, condition) d_step { property = (condition); assert(property); property = false }
#define TAKE(lock) d_step { !lock -> lock = true }
#define GIVE(lock) lock = false

/* RunLoop.add(item:_:), put(_:in:_:), enter(_:of:) */
proctype Adder(byte loop) {
    bool mayEnter;
#ifdef VALIDITY_IS_CHECKED_BEFORE_THE_LOCK
    mayEnter = isValid;
    TAKE(loopLock[loop]);
    mayEnter = mayEnter && !isDead[loop];
#else
    TAKE(loopLock[loop]);
    mayEnter = isValid && !isDead[loop];
#endif
    if
    :: mayEnter && !isInMode[loop] ->
#ifdef SOURCE_LOCK_IS_NOT_TAKEN_TO_ENTER
        isInMode[loop] = true;
        TAKE(sourceLock); isMember[loop] = true; GIVE(sourceLock)
#else
        TAKE(sourceLock);
#ifndef VALIDITY_IS_CHECKED_BEFORE_THE_LOCK
        if :: !isValid -> mayEnter = false :: else fi;
#endif
        if
        :: mayEnter -> isInMode[loop] = true; isMember[loop] = true
        :: else
        fi;
        GIVE(sourceLock)
#endif
    :: else
    fi;
    GIVE(loopLock[loop])
}

/* leave(_:of:), with the loop's lock held */
inline leave(loop) {
    isInMode[loop] = false;
    TAKE(sourceLock);
    isMember[loop] = false;
    GIVE(sourceLock)
}

/* RunLoop.remove(_:from:), take(_:outOf:) */
proctype Remover(byte loop) {
    TAKE(loopLock[loop]);
    if :: isInMode[loop] -> leave(loop) :: else fi;
    GIVE(loopLock[loop])
}

/* RunLoop.threadEnds(), takeEverythingOut() */
proctype Ender(byte loop) {
    TAKE(loopLock[loop]);
    isDead[loop] = true;
    if :: isInMode[loop] -> leave(loop) :: else fi;
    GIVE(loopLock[loop])
}

/* Item.invalidate(), RunLoop.discard(_:) */
proctype Invalidator() {
    bool left[LOOPS];
    byte loop;
#ifdef VALIDITY_ENDS_AFTER_THE_LOCK
    TAKE(sourceLock);
    left[0] = isMember[0]; left[1] = isMember[1];
    GIVE(sourceLock);
    isValid = false;
#else
    TAKE(sourceLock);
    if
    :: !isValid -> GIVE(sourceLock); goto over
    :: else
    fi;
    isValid = false;
    left[0] = isMember[0]; left[1] = isMember[1];
#ifndef SOURCE_LOCK_IS_KEPT_WHILE_LOOPS_ARE_TOLD
    GIVE(sourceLock);
#endif
#endif
    invalidations++;
    do
    :: loop < LOOPS ->
        if
        :: left[loop] ->
            TAKE(loopLock[loop]);
            if :: isInMode[loop] -> leave(loop) :: else fi;
            GIVE(loopLock[loop])
        :: else
        fi;
        loop++
    :: else -> break
    od;
over: skip
}

proctype Watch() {
    timeout ->
        CHECK(noItemLeftBehind, isValid || !(isInMode[0] || isInMode[1]));
        CHECK(membershipsMatch, isInMode[0] == isMember[0] && isInMode[1] == isMember[1]);
        CHECK(oneInvalidation, invalidations <= 1);
        CHECK(noItemInADeadLoop, !(isDead[0] && isInMode[0]) && !(isDead[1] && isInMode[1]))
}

init { atomic { THREADS run Watch() } }
