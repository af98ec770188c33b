// swift-format-ignore-file: AlwaysUseLowerCamelCase
// The names are to be found at a glance, as Apple's are.
//
// Every call into the user's code passes through one of these, so that a stack trace or a profile says what kind of
// callout it is, in release builds too. Not inlined; and each leaves a number of its own behind the call, so that the
// call is not the last thing it does (its frame would be reused) and no two bodies are alike (they would be merged).

internal import CLinuxKernel

@inline(never)
func RUNLOOP_IS_CALLING_OUT_TO_AN_OBSERVER(
    _ function: (RunLoopObserver, RunLoopActivities) -> Void, _ observer: RunLoopObserver, _ activity: RunLoopActivities
) {
    function(observer, activity)
    rl_callout_returned(1)
}

@inline(never)
func RUNLOOP_IS_CALLING_OUT_TO_A_BLOCK(_ function: () -> Void) {
    function()
    rl_callout_returned(2)
}

@inline(never)
func RUNLOOP_IS_CALLING_OUT_TO_A_SOURCE(_ function: (RunLoopSource) -> Void, _ source: RunLoopSource) {
    function(source)
    rl_callout_returned(3)
}

@inline(never)
func RUNLOOP_IS_CALLING_OUT_TO_A_PORT_SOURCE(
    _ function: (RunLoopPortSource, RunLoopDescriptorEvents) -> Void, _ source: RunLoopPortSource,
    _ events: RunLoopDescriptorEvents
) {
    function(source, events)
    rl_callout_returned(4)
}

@inline(never)
func RUNLOOP_IS_CALLING_OUT_TO_A_TIMER(_ function: (RunLoopTimer) -> Void, _ timer: RunLoopTimer) {
    function(timer)
    rl_callout_returned(5)
}

@inline(never)
func RUNLOOP_IS_SERVICING_THE_MAIN_DISPATCH_QUEUE(_ queue: MainQueue) {
    queue.drain()
    rl_callout_returned(6)
}
