// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

/* The memory orders of the pairs in which each side writes one word and then reads the other's.
 *
 * The other models are sequentially consistent. Here every thread has a store buffer: a store that is not sequentially
 * consistent stays there, and other threads do not see it, until the buffer empties, which may happen at any time. A
 * sequentially consistent store, a read-modify-write and a lock empty it. So do x86 machines, and so does the rule of the
 * language that all sequentially consistent operations have one order.
 *
 *   PAIR 1  BlockQueue.push: hasIncoming, then the wake word     | beginTurn: the wake word, then hasIncoming
 *   PAIR 2  Source.signal: the mark, then Place.isQueued         | leaveQueue: Place.isQueued, then the mark
 *   PAIR 3  Source.signal: the mark, then Place.isPresent        | Source.enter: isPresent, then the mark
 *   PAIR 4  a timer is added: the table, then the wake word      | beginTurn, then prepareToSleep with the lock
 *   PAIR 5  EpollReadiness: hasNews (releasing), then the word   | fallAsleep, then the lock and hasNews (acquiring)
 */

bool written[2];              /* what both threads see */
bool buffered[2];             /* what only the writer sees */
bool seesOther[2];
bool loopLock;

hidden byte oneSeesTheOther;

#define RELAXED_STORE(x) buffered[x] = true
#define FLUSH(x) d_step { if :: buffered[x] -> written[x] = true; buffered[x] = false :: else fi }
#define SEQ_CST_STORE(x) d_step { written[x] = true; buffered[x] = false }
#define READ_MODIFY_WRITE(x) SEQ_CST_STORE(x)
#define TAKE_LOCK d_step { !loopLock -> loopLock = true }
#define GIVE_LOCK(x) FLUSH(x); loopLock = false

#ifdef WEAK_FIRST
#define FIRST_STORE(x) RELAXED_STORE(x)
#else
#define FIRST_STORE(x) SEQ_CST_STORE(x)
#endif
#ifdef WEAK_SECOND
#define SECOND_STORE(x) RELAXED_STORE(x)
#else
#define SECOND_STORE(x) SEQ_CST_STORE(x)
#endif

/* Another thread. */
active proctype Bringer() {
#if PAIR <= 3
    FIRST_STORE(0);           /* hasIncoming: store; the mark: compare-exchange */
    seesOther[0] = written[1] /* the word: load; isQueued: exchange; isPresent: load */
#else
#ifndef WITHOUT_THE_LOCK
    TAKE_LOCK;
#endif
    RELAXED_STORE(0);         /* the tables are no atomics; hasNews is stored releasing */
    seesOther[0] = written[1];/* WakeWord.phase, with the lock held */
#ifndef WITHOUT_THE_LOCK
    GIVE_LOCK(0)
#endif
#endif
}

/* The loop's thread; of pair 3 the thread that adds the source. */
active proctype Taker() {
    SECOND_STORE(1);          /* beginTurn, fallAsleep: read-modify-write; isQueued, isPresent: store */
#if PAIR <= 3
    seesOther[1] = written[0]
#else
#ifndef WITHOUT_THE_LOCK
    TAKE_LOCK;
#endif
    seesOther[1] = written[0];
#ifndef WITHOUT_THE_LOCK
    GIVE_LOCK(1)
#endif
#endif
}

/* A buffer empties at some time. */
active proctype Buffers() {
end:
    do
    :: d_step { buffered[0] -> written[0] = true; buffered[0] = false }
    :: d_step { buffered[1] -> written[1] = true; buffered[1] = false }
    od
}

active proctype Watch() {
    timeout -> d_step { oneSeesTheOther = seesOther[0] || seesOther[1]; assert(oneSeesTheOther) }
}
