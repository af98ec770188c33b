// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

/* Other threads, each with one thing for the loop. */

/* RunLoop.wakeUp() */
inline wakeUp() { request(false, sleeper); kernelWake(sleeper) }

/* RunLoop.stop() */
inline stopInnermost() { request(true, sleeper); kernelWake(sleeper) }

/* RunLoop.perform(in:wake:_:) on another thread than the loop's */
proctype Poster(byte mode) {
    byte sleeper;
#ifdef WAKES_BEFORE_IT_POSTS
    wakeUp();
    push(mode)
#else
    push(mode);
    wakeUp()
#endif
}

/* Source.signal() and RunLoop.wakeUp() */
proctype Signaller(byte mode) {
    byte sleeper;
    isSignalled[mode] = true;
    wakeUp()
}

proctype Waker() {
    byte sleeper;
    wakeUp()
}

proctype Stopper() {
    byte sleeper;
    stopInnermost()
}

/* RunLoop.stop(_:) with the first run, which currentRun has named. */
proctype StopperOfOuter() {
    byte sleeper;
    takeLock();
    if
    :: depth == 0 || numbers[0] != 1
    :: depth == 1 && numbers[0] == 1 -> request(true, sleeper); kernelWake(sleeper)
    :: else -> d_step { isStoppedFromOutside[0] = true; wasStopped[1] = true }
    fi;
    giveLockBack()
}

/* RunLoop.add(_: Timer, in:), RunLoop.enqueue(_:in:), RunLoop.timerComes(_:in:) */
proctype TimerAdder(byte mode) {
    byte sleeper, seen;
    takeLock();
    d_step { hasTimer[mode] = true; isDue[mode] = false; timersAdded++ };
    seen = phase;
#ifdef NEWS_COUNTS_ONLY_ASLEEP
    if
    :: seen >= ON_WORD && sleepMode == mode && sleepLimit == FOREVER ->
#else
    if
    :: seen != AWAKE && sleepMode == mode && sleepLimit == FOREVER ->
#endif
        if
        :: seen == IN_HOST ->
            /* RunLoop.datesChangedInHost() */
#ifdef DATES_ARE_NOT_TOLD_TO_THE_HOST
            skip
#else
            d_step { if :: phase == IN_HOST -> sleepLimit = TIMER; guestTimer = true :: else fi }
#endif
        :: else -> lookAgain(sleeper); kernelWake(sleeper)
        fi
    :: else
    fi;
    giveLockBack()
}

/* RunLoop.add(_: DescriptorSource, in:), RunLoop.descriptorsChanged(in:); the descriptor becomes readable later. */
proctype DescriptorAdder(byte mode) {
    byte sleeper, seen;
    takeLock();
    register(mode);
    seen = phase;
    if
    :: seen != AWAKE && sleepMode == mode ->
        if
        :: seen == IN_HOST ->
            /* RunLoop.descriptorsChangedInHost(_:) */
            linkedEpoll = true
        :: else -> lookAgain(sleeper); kernelWake(sleeper)
        fi
    :: else
    fi;
    giveLockBack();
    isReadable[mode] = true
}

#ifdef HAS_MAIN_QUEUE
/* DispatchQueue.main.async: libdispatch's own business */
proctype QueuePoster() {
    bool wasEmpty;
    d_step { wasEmpty = queuedWork == 0; queuedWork++; postedWork++ };
    if :: wasEmpty -> queueIsReadable = true :: else fi
}
#endif

/* The dates of timers come. */
active proctype Clock() {
end:
    do
    :: d_step { hasTimer[0] && !isDue[0] -> isDue[0] = true }
    :: d_step { hasTimer[1] && !isDue[1] -> isDue[1] = true }
    od
}
