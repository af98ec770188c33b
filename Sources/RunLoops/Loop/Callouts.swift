// swift-format-ignore-file: AlwaysUseLowerCamelCase
// The names are to be found at a glance, as Apple's are.
//
// Every call into the user's code passes through one of these, so that a stack trace or a profile says what kind of
// callout it is, in release builds too. Not inlined; and each notes a number of its own after the call, so that the
// call is not the last thing it does (its frame would be reused) and no two bodies are alike (they would be merged).

internal import Synchronization

private let lastReturned = Atomic<Int>(0)

@inline(__always)
private func calloutReturned(_ kind: Int) { lastReturned.store(kind, ordering: .relaxed) }

@inline(never)
func RUNLOOP_IS_CALLING_OUT_TO_AN_OBSERVER(
    _ function: (RunLoopObserver, RunLoopActivities) -> Void, _ observer: RunLoopObserver, _ activity: RunLoopActivities
) {
    function(observer, activity)
    calloutReturned(1)
}

@inline(never)
func RUNLOOP_IS_CALLING_OUT_TO_A_BLOCK(_ function: () -> Void) {
    function()
    calloutReturned(2)
}

@inline(never)
func RUNLOOP_IS_CALLING_OUT_TO_A_SOURCE(_ function: (RunLoopSource) -> Void, _ source: RunLoopSource) {
    function(source)
    calloutReturned(3)
}

@inline(never)
func RUNLOOP_IS_CALLING_OUT_TO_A_PORT_SOURCE(
    _ function: (RunLoopPortSource, RunLoopDescriptorEvents) -> Void, _ source: RunLoopPortSource,
    _ events: RunLoopDescriptorEvents
) {
    function(source, events)
    calloutReturned(4)
}

@inline(never)
func RUNLOOP_IS_CALLING_OUT_TO_A_TIMER(_ function: (RunLoopTimer) -> Void, _ timer: RunLoopTimer) {
    function(timer)
    calloutReturned(5)
}

@inline(never)
func RUNLOOP_IS_SERVICING_THE_MAIN_DISPATCH_QUEUE(_ queue: MainQueue) {
    queue.drain()
    calloutReturned(6)
}
