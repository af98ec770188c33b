// Every call into the user's code passes through one of these, so that a stack trace or a profile says what kind of
// callout it is, in release builds too. Not inlined; and each returns a value of its own made after the call, so that
// the call is not the last thing it does (the frame would be reused) and no two bodies are alike (they would be merged).

@inline(never)
@discardableResult
func RUNLOOP_IS_CALLING_OUT_TO_AN_OBSERVER(
    _ function: (RunLoopObserver, RunLoopActivities) -> Void, _ observer: RunLoopObserver, _ activity: RunLoopActivities
) -> Int {
    function(observer, activity)
    return 1
}

@inline(never)
@discardableResult
func RUNLOOP_IS_CALLING_OUT_TO_A_BLOCK(_ function: () -> Void) -> Int {
    function()
    return 2
}

@inline(never)
@discardableResult
func RUNLOOP_IS_CALLING_OUT_TO_A_SOURCE(_ function: (RunLoopSource) -> Void, _ source: RunLoopSource) -> Int {
    function(source)
    return 3
}

@inline(never)
@discardableResult
func RUNLOOP_IS_CALLING_OUT_TO_A_PORT_SOURCE(
    _ function: (RunLoopPortSource, RunLoopDescriptorEvents) -> Void, _ source: RunLoopPortSource,
    _ events: RunLoopDescriptorEvents
) -> Int {
    function(source, events)
    return 4
}

@inline(never)
@discardableResult
func RUNLOOP_IS_CALLING_OUT_TO_A_TIMER(_ function: (RunLoopTimer) -> Void, _ timer: RunLoopTimer) -> Int {
    function(timer)
    return 5
}

@inline(never)
@discardableResult
func RUNLOOP_IS_SERVICING_THE_MAIN_DISPATCH_QUEUE(_ queue: MainQueue) -> Int {
    queue.drain()
    return 6
}
