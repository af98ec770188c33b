// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

#if os(Linux) && !EXPORTS_ORIGINALS
internal import CCoreFoundationRunLoop
internal import CoreFoundation

// The functions that have another signature in C: C itself counts the references to a result, and a closure is a block.
// CoreFoundationRunLoop.h declares them. All other functions of that header stand beside their Swift names.

private func owned<Instance: AnyObject>(_ instance: Instance?) -> Unmanaged<Instance>? {
    instance.map { .passRetained($0) }
}

// MARK: Get: the caller owns nothing

@_cdecl("RLRunLoopGetCurrent")
func getCurrent() -> Unmanaged<CFRunLoop>? { .passUnretained(CFRunLoopGetCurrent()) }

@_cdecl("RLRunLoopGetMain")
func getMain() -> Unmanaged<CFRunLoop>? { .passUnretained(CFRunLoopGetMain()) }

// MARK: Copy and Create: the caller owns the result

@_cdecl("RLRunLoopCopyCurrentMode")
func copyCurrentMode(_ rl: CFRunLoop!) -> Unmanaged<CFString>? { owned(CFRunLoopCopyCurrentMode(rl)) }

@_cdecl("RLRunLoopCopyAllModes")
func copyAllModes(_ rl: CFRunLoop!) -> Unmanaged<CFArray>? { owned(CFRunLoopCopyAllModes(rl)) }

@_cdecl("RLRunLoopSourceCreate")
func createSource(
    _ allocator: CFAllocator!, _ order: CFIndex, _ context: UnsafeMutablePointer<RLRunLoopSourceContext>!
) -> Unmanaged<CFRunLoopSource>? {
    owned(CFRunLoopSourceCreate(allocator, order, context))
}

@_cdecl("RLRunLoopTimerCreate")
func createTimer(
    _ allocator: CFAllocator!, _ fireDate: CFAbsoluteTime, _ interval: CFTimeInterval, _ flags: CFOptionFlags,
    _ order: CFIndex, _ callout: CFRunLoopTimerCallBack!, _ context: UnsafeMutablePointer<CFRunLoopTimerContext>!
) -> Unmanaged<CFRunLoopTimer>? {
    owned(CFRunLoopTimerCreate(allocator, fireDate, interval, flags, order, callout, context))
}

@_cdecl("RLRunLoopTimerCreateWithHandler")
func createTimerWithHandler(
    _ allocator: CFAllocator!, _ fireDate: CFAbsoluteTime, _ interval: CFTimeInterval, _ flags: CFOptionFlags,
    _ order: CFIndex, _ block: (@convention(block) (CFRunLoopTimer?) -> Void)!
) -> Unmanaged<CFRunLoopTimer>? {
    owned(CFRunLoopTimerCreateWithHandler(allocator, fireDate, interval, flags, order, block))
}

@_cdecl("RLRunLoopObserverCreate")
func createObserver(
    _ allocator: CFAllocator!, _ activities: CFOptionFlags, _ repeats: Bool, _ order: CFIndex,
    _ callout: CFRunLoopObserverCallBack!, _ context: UnsafeMutablePointer<CFRunLoopObserverContext>!
) -> Unmanaged<CFRunLoopObserver>? {
    owned(CFRunLoopObserverCreate(allocator, activities, repeats, order, callout, context))
}

@_cdecl("RLRunLoopObserverCreateWithHandler")
func createObserverWithHandler(
    _ allocator: CFAllocator!, _ activities: CFOptionFlags, _ repeats: Bool, _ order: CFIndex,
    _ block: (@convention(block) (CFRunLoopObserver?, CFRunLoopActivity) -> Void)!
) -> Unmanaged<CFRunLoopObserver>? {
    owned(CFRunLoopObserverCreateWithHandler(allocator, activities, repeats, order, block))
}

// MARK: Blocks

@_cdecl("RLRunLoopPerformBlock")
func performBlock(_ rl: CFRunLoop!, _ mode: CFTypeRef!, _ block: (@convention(block) () -> Void)!) {
    CFRunLoopPerformBlock(rl, mode, block)
}
#endif
