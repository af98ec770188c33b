// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

/* One timer or observer, which is in one loop at most: threads add it to two loops, take it out and make it invalid at the
 * same time.
 *
 * Stands for ItemOwner in RunLoop/LoopLock.swift step by step, with the futex of its little lock; Timer.invalidate, Observer.invalidate;
 * RunLoop.add(_:in:), remove(_:from:), discard(_:).
 */

/* ItemOwner.State; LOOP and above: the address of a loop's lock */
#define FREE 0
#define HELD 1
#define CONTENDED 2
#define LOOP 3
#define LOOPS 2

byte word = FREE;
byte sleepers;                /* threads in FUTEX_WAIT on the word */
bool isValid = true;
bool loopLock[LOOPS];
bool isInMode[LOOPS];         /* bucket != .none, modeCount > 0 */
byte users;                   /* threads that hold the lock that guards the item's fields */

hidden byte noItemLeftBehind, oneLoopAtMost, oneHolder, noThreadSleepsOnTheLittleLock;

#define CHECK(property, condition) d_step { property = (condition); assert(property); property = false }
#define TAKE(lock) atomic { !lock -> lock = true }
#define GIVE(lock) lock = false

/* ItemOwner.take(_:) */
inline takeLoop(found, holder) {
    TAKE(loopLock[found - LOOP]);
#ifdef OWNER_IS_NOT_LOOKED_AT_AGAIN
    holder = found
#else
    if
    :: word == found -> holder = found
    :: else -> GIVE(loopLock[found - LOOP])
    fi
#endif
}

/* ItemOwner.lock(), lockSlowly(): FREE stands for the item's own lock. `holder` is CONTENDED while there is none. */
inline lockOwner(holder) {
    holder = CONTENDED;
    taken = HELD;
    do
    :: true ->
        atomic { found = word; if :: word == FREE -> word = taken :: else fi };
        if
        :: found == FREE -> holder = FREE; break
        :: found >= LOOP -> takeLoop(found, holder);
            if :: holder != CONTENDED -> break :: else fi
        :: else ->
            taken = CONTENDED;
            if
            :: found == HELD ->
                atomic { found = word; if :: word == HELD -> word = CONTENDED; found = CONTENDED :: else -> found = HELD fi }
            :: else
            fi;
            if
            :: found == CONTENDED ->
                /* FUTEX_WAIT compares and sleeps in one step. */
                atomic { isAsleep = word == CONTENDED; sleepers = sleepers + isAsleep };
                if :: isAsleep -> isAsleep = false; sleepers == 0 :: else fi
            :: else
            fi
        fi
    od
}

/* ItemOwner.release(to:): wakes all of them. */
inline release(state) {
    atomic { found = word; word = state };
#ifndef RELEASE_WAKES_NOBODY
    if :: found == CONTENDED -> sleepers = 0 :: else fi
#endif
}

/* ItemOwner.unlock(_:) */
inline unlockOwner(holder) {
    if
    :: holder == FREE -> release(FREE)
    :: else -> GIVE(loopLock[holder - LOOP])
    fi
}

#define ENTER_FIELDS atomic { users++; oneHolder = users == 1; assert(oneHolder); oneHolder = false }
#define LEAVE_FIELDS users--

/* RunLoop.add(_:in:): ItemOwner.claim(for:isInMode:), claimSlowly, then the loop's lock */
proctype Adder(byte loop) {
    byte found, holder, taken;
    bool isAsleep, isClaimed;
    atomic { found = word; if :: word == FREE -> word = LOOP + loop :: else fi };
    if
    :: found == FREE || found == LOOP + loop -> isClaimed = true
    :: else ->
        lockOwner(holder);
        if
        :: holder == FREE -> release(LOOP + loop); isClaimed = true
        :: holder == LOOP + loop -> isClaimed = true; GIVE(loopLock[loop])
        :: else ->
            if
            :: !isInMode[holder - LOOP] -> word = LOOP + loop; isClaimed = true
            :: else
            fi;
            GIVE(loopLock[holder - LOOP])
        fi
    fi;
    if
    :: isClaimed ->
#ifdef VALIDITY_IS_CHECKED_BEFORE_THE_LOCK
        isClaimed = isValid;
        TAKE(loopLock[loop]);
#else
        TAKE(loopLock[loop]);
        isClaimed = isValid;
#endif
#ifndef OWNER_IS_NOT_ASKED_AGAIN
        isClaimed = isClaimed && word == LOOP + loop;
#endif
        if
        :: isClaimed -> ENTER_FIELDS; isInMode[loop] = true; LEAVE_FIELDS
        :: else
        fi;
        GIVE(loopLock[loop])
    :: else
    fi
}

/* RunLoop.remove(_:from:) */
proctype Remover(byte loop) {
    TAKE(loopLock[loop]);
    if
    :: isInMode[loop] -> ENTER_FIELDS; isInMode[loop] = false; LEAVE_FIELDS
    :: else
    fi;
    GIVE(loopLock[loop])
}

/* Timer.invalidate(), Observer.invalidate() */
proctype Invalidator() {
    byte found, holder, taken;
    bool isAsleep;
    lockOwner(holder);
    ENTER_FIELDS;
    if
    :: isValid -> isValid = false;
        if
        :: holder >= LOOP -> isInMode[holder - LOOP] = false
        :: else
        fi
    :: else
    fi;
    LEAVE_FIELDS;
    unlockOwner(holder)
}

proctype Watch() {
    timeout ->
        CHECK(noThreadSleepsOnTheLittleLock, sleepers == 0);
        CHECK(noItemLeftBehind, isValid || !(isInMode[0] || isInMode[1]));
        CHECK(oneLoopAtMost, !(isInMode[0] && isInMode[1]))
}

init { atomic { THREADS run Watch() } }
