// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

// Core Foundation's run loop for programs in C: after this header, the names of CFRunLoop.h mean this library's loop.
//
// Include it after, or in place of, Core Foundation's own headers, or give the compiler `-include CoreFoundationRunLoop.h`.
// The program links the Swift library CoreFoundationRunLoop. The functions have names of their own, so that libraries that
// use Core Foundation's loop keep it.

#ifndef CORE_FOUNDATION_RUN_LOOP_H
#define CORE_FOUNDATION_RUN_LOOP_H

#include "CCoreFoundationRunLoop.h"

#include <stdbool.h>

CF_EXTERN_C_BEGIN

#pragma mark Loops

CFTypeID RLRunLoopGetTypeID(void);
CFRunLoopRef RLRunLoopGetCurrent(void);
CFRunLoopRef RLRunLoopGetMain(void);
CFStringRef RLRunLoopCopyCurrentMode(CFRunLoopRef rl);
CFArrayRef RLRunLoopCopyAllModes(CFRunLoopRef rl);
void RLRunLoopAddCommonMode(CFRunLoopRef rl, CFStringRef mode);
CFAbsoluteTime RLRunLoopGetNextTimerFireDate(CFRunLoopRef rl, CFStringRef mode);
void RLRunLoopRun(void);
CFRunLoopRunResult RLRunLoopRunInMode(CFStringRef mode, CFTimeInterval seconds, bool returnAfterSourceHandled);
bool RLRunLoopIsWaiting(CFRunLoopRef rl);
void RLRunLoopWakeUp(CFRunLoopRef rl);
void RLRunLoopStop(CFRunLoopRef rl);
#if __BLOCKS__
void RLRunLoopPerformBlock(CFRunLoopRef rl, CFTypeRef mode, void (^block)(void));
#endif

#pragma mark Items of a loop

bool RLRunLoopContainsSource(CFRunLoopRef rl, CFRunLoopSourceRef source, CFStringRef mode);
void RLRunLoopAddSource(CFRunLoopRef rl, CFRunLoopSourceRef source, CFStringRef mode);
void RLRunLoopRemoveSource(CFRunLoopRef rl, CFRunLoopSourceRef source, CFStringRef mode);
bool RLRunLoopContainsObserver(CFRunLoopRef rl, CFRunLoopObserverRef observer, CFStringRef mode);
void RLRunLoopAddObserver(CFRunLoopRef rl, CFRunLoopObserverRef observer, CFStringRef mode);
void RLRunLoopRemoveObserver(CFRunLoopRef rl, CFRunLoopObserverRef observer, CFStringRef mode);
bool RLRunLoopContainsTimer(CFRunLoopRef rl, CFRunLoopTimerRef timer, CFStringRef mode);
void RLRunLoopAddTimer(CFRunLoopRef rl, CFRunLoopTimerRef timer, CFStringRef mode);
void RLRunLoopRemoveTimer(CFRunLoopRef rl, CFRunLoopTimerRef timer, CFStringRef mode);

#pragma mark Sources

CFTypeID RLRunLoopSourceGetTypeID(void);
CFRunLoopSourceRef RLRunLoopSourceCreate(
    CFAllocatorRef allocator, CFIndex order, RLRunLoopSourceContext *context);
CFIndex RLRunLoopSourceGetOrder(CFRunLoopSourceRef source);
void RLRunLoopSourceInvalidate(CFRunLoopSourceRef source);
bool RLRunLoopSourceIsValid(CFRunLoopSourceRef source);
void RLRunLoopSourceGetContext(CFRunLoopSourceRef source, RLRunLoopSourceContext *context);
void RLRunLoopSourceSignal(CFRunLoopSourceRef source);

#pragma mark Observers

CFTypeID RLRunLoopObserverGetTypeID(void);
CFRunLoopObserverRef RLRunLoopObserverCreate(
    CFAllocatorRef allocator, CFOptionFlags activities, bool repeats, CFIndex order, CFRunLoopObserverCallBack callout,
    CFRunLoopObserverContext *context);
#if __BLOCKS__
CFRunLoopObserverRef RLRunLoopObserverCreateWithHandler(
    CFAllocatorRef allocator, CFOptionFlags activities, bool repeats, CFIndex order,
    void (^block)(CFRunLoopObserverRef observer, CFRunLoopActivity activity));
#endif
CFOptionFlags RLRunLoopObserverGetActivities(CFRunLoopObserverRef observer);
bool RLRunLoopObserverDoesRepeat(CFRunLoopObserverRef observer);
CFIndex RLRunLoopObserverGetOrder(CFRunLoopObserverRef observer);
void RLRunLoopObserverInvalidate(CFRunLoopObserverRef observer);
bool RLRunLoopObserverIsValid(CFRunLoopObserverRef observer);
void RLRunLoopObserverGetContext(CFRunLoopObserverRef observer, CFRunLoopObserverContext *context);

#pragma mark Timers

CFTypeID RLRunLoopTimerGetTypeID(void);
CFRunLoopTimerRef RLRunLoopTimerCreate(
    CFAllocatorRef allocator, CFAbsoluteTime fireDate, CFTimeInterval interval, CFOptionFlags flags, CFIndex order,
    CFRunLoopTimerCallBack callout, CFRunLoopTimerContext *context);
#if __BLOCKS__
CFRunLoopTimerRef RLRunLoopTimerCreateWithHandler(
    CFAllocatorRef allocator, CFAbsoluteTime fireDate, CFTimeInterval interval, CFOptionFlags flags, CFIndex order,
    void (^block)(CFRunLoopTimerRef timer));
#endif
CFAbsoluteTime RLRunLoopTimerGetNextFireDate(CFRunLoopTimerRef timer);
void RLRunLoopTimerSetNextFireDate(CFRunLoopTimerRef timer, CFAbsoluteTime fireDate);
CFTimeInterval RLRunLoopTimerGetInterval(CFRunLoopTimerRef timer);
bool RLRunLoopTimerDoesRepeat(CFRunLoopTimerRef timer);
CFIndex RLRunLoopTimerGetOrder(CFRunLoopTimerRef timer);
void RLRunLoopTimerInvalidate(CFRunLoopTimerRef timer);
bool RLRunLoopTimerIsValid(CFRunLoopTimerRef timer);
void RLRunLoopTimerGetContext(CFRunLoopTimerRef timer, CFRunLoopTimerContext *context);
CFTimeInterval RLRunLoopTimerGetTolerance(CFRunLoopTimerRef timer);
void RLRunLoopTimerSetTolerance(CFRunLoopTimerRef timer, CFTimeInterval tolerance);

CF_EXTERN_C_END

#pragma mark The names

#define CFRunLoopSourceContext RLRunLoopSourceContext
#define CFRunLoopSourceContext1 RLRunLoopSourceContext1
#define CFRunLoopGetTypeID RLRunLoopGetTypeID
#define CFRunLoopGetCurrent RLRunLoopGetCurrent
#define CFRunLoopGetMain RLRunLoopGetMain
#define CFRunLoopCopyCurrentMode RLRunLoopCopyCurrentMode
#define CFRunLoopCopyAllModes RLRunLoopCopyAllModes
#define CFRunLoopAddCommonMode RLRunLoopAddCommonMode
#define CFRunLoopGetNextTimerFireDate RLRunLoopGetNextTimerFireDate
#define CFRunLoopRun RLRunLoopRun
#define CFRunLoopRunInMode RLRunLoopRunInMode
#define CFRunLoopIsWaiting RLRunLoopIsWaiting
#define CFRunLoopWakeUp RLRunLoopWakeUp
#define CFRunLoopStop RLRunLoopStop
#define CFRunLoopPerformBlock RLRunLoopPerformBlock
#define CFRunLoopContainsSource RLRunLoopContainsSource
#define CFRunLoopAddSource RLRunLoopAddSource
#define CFRunLoopRemoveSource RLRunLoopRemoveSource
#define CFRunLoopContainsObserver RLRunLoopContainsObserver
#define CFRunLoopAddObserver RLRunLoopAddObserver
#define CFRunLoopRemoveObserver RLRunLoopRemoveObserver
#define CFRunLoopContainsTimer RLRunLoopContainsTimer
#define CFRunLoopAddTimer RLRunLoopAddTimer
#define CFRunLoopRemoveTimer RLRunLoopRemoveTimer
#define CFRunLoopSourceGetTypeID RLRunLoopSourceGetTypeID
#define CFRunLoopSourceCreate RLRunLoopSourceCreate
#define CFRunLoopSourceGetOrder RLRunLoopSourceGetOrder
#define CFRunLoopSourceInvalidate RLRunLoopSourceInvalidate
#define CFRunLoopSourceIsValid RLRunLoopSourceIsValid
#define CFRunLoopSourceGetContext RLRunLoopSourceGetContext
#define CFRunLoopSourceSignal RLRunLoopSourceSignal
#define CFRunLoopObserverGetTypeID RLRunLoopObserverGetTypeID
#define CFRunLoopObserverCreate RLRunLoopObserverCreate
#define CFRunLoopObserverCreateWithHandler RLRunLoopObserverCreateWithHandler
#define CFRunLoopObserverGetActivities RLRunLoopObserverGetActivities
#define CFRunLoopObserverDoesRepeat RLRunLoopObserverDoesRepeat
#define CFRunLoopObserverGetOrder RLRunLoopObserverGetOrder
#define CFRunLoopObserverInvalidate RLRunLoopObserverInvalidate
#define CFRunLoopObserverIsValid RLRunLoopObserverIsValid
#define CFRunLoopObserverGetContext RLRunLoopObserverGetContext
#define CFRunLoopTimerGetTypeID RLRunLoopTimerGetTypeID
#define CFRunLoopTimerCreate RLRunLoopTimerCreate
#define CFRunLoopTimerCreateWithHandler RLRunLoopTimerCreateWithHandler
#define CFRunLoopTimerGetNextFireDate RLRunLoopTimerGetNextFireDate
#define CFRunLoopTimerSetNextFireDate RLRunLoopTimerSetNextFireDate
#define CFRunLoopTimerGetInterval RLRunLoopTimerGetInterval
#define CFRunLoopTimerDoesRepeat RLRunLoopTimerDoesRepeat
#define CFRunLoopTimerGetOrder RLRunLoopTimerGetOrder
#define CFRunLoopTimerInvalidate RLRunLoopTimerInvalidate
#define CFRunLoopTimerIsValid RLRunLoopTimerIsValid
#define CFRunLoopTimerGetContext RLRunLoopTimerGetContext
#define CFRunLoopTimerGetTolerance RLRunLoopTimerGetTolerance
#define CFRunLoopTimerSetTolerance RLRunLoopTimerSetTolerance

#pragma mark What would mix two loops

#define RL_OF_THE_OTHER_LOOP __attribute__((unavailable("it belongs to Core Foundation's own loop")))

CFRunLoopSourceRef RLSocketCreateRunLoopSource(CFAllocatorRef, CFSocketRef, CFIndex) RL_OF_THE_OTHER_LOOP;
CFRunLoopSourceRef RLMessagePortCreateRunLoopSource(CFAllocatorRef, CFMessagePortRef, CFIndex) RL_OF_THE_OTHER_LOOP;
void RLReadStreamScheduleWithRunLoop(CFReadStreamRef, CFRunLoopRef, CFStringRef) RL_OF_THE_OTHER_LOOP;
void RLReadStreamUnscheduleFromRunLoop(CFReadStreamRef, CFRunLoopRef, CFStringRef) RL_OF_THE_OTHER_LOOP;
void RLWriteStreamScheduleWithRunLoop(CFWriteStreamRef, CFRunLoopRef, CFStringRef) RL_OF_THE_OTHER_LOOP;
void RLWriteStreamUnscheduleFromRunLoop(CFWriteStreamRef, CFRunLoopRef, CFStringRef) RL_OF_THE_OTHER_LOOP;

#define CFSocketCreateRunLoopSource RLSocketCreateRunLoopSource
#define CFMessagePortCreateRunLoopSource RLMessagePortCreateRunLoopSource
#define CFReadStreamScheduleWithRunLoop RLReadStreamScheduleWithRunLoop
#define CFReadStreamUnscheduleFromRunLoop RLReadStreamUnscheduleFromRunLoop
#define CFWriteStreamScheduleWithRunLoop RLWriteStreamScheduleWithRunLoop
#define CFWriteStreamUnscheduleFromRunLoop RLWriteStreamUnscheduleFromRunLoop

#endif
