// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

// The names are Core Foundation's.
// swift-format-ignore-file: AlwaysUseLowerCamelCase

#if os(Linux) && !EXPORTS_ORIGINALS
public import CoreFoundation

// Swift 6.2 does not count the use in a declaration that is unavailable, and warns.
#if compiler(>=6.3)
public import CCoreFoundationRunLoop
#else
internal import CCoreFoundationRunLoop
#endif

// What would mix two loops: these functions of Core Foundation make sources for its own loop, or add to its own loop, which
// would take an object of this library for one of its own. None of them can be called; the compiler names the remedy.
//
// Generic where the toolchain has no such type.

/// Makes Core Foundation's source of a socket; not available here.
@available(
    *, unavailable,
    message:
        "The source would be one of Core Foundation's own loop. Make a source of version 1 whose getPort returns CFSocketGetNative, or use RunLoopsEvents."
)
public func CFSocketCreateRunLoopSource(
    _ allocator: CFAllocator!, _ s: CFSocket!, _ order: CFIndex
) -> CFRunLoopSource! { isNotCalled() }

/// Makes Core Foundation's source of a message port; not available here.
@available(
    *, unavailable,
    message: "The source would be one of Core Foundation's own loop. Use MessagePort of RunLoopsPorts."
)
public func CFMessagePortCreateRunLoopSource(
    _ allocator: CFAllocator!, _ local: CFMessagePort!, _ order: CFIndex
) -> CFRunLoopSource! { isNotCalled() }

/// Makes Core Foundation's source of a Mach port; not available here.
@available(
    *, unavailable,
    message:
        "Linux has no Mach ports. Make a source of version 1 with a descriptor, or use MessagePort of RunLoopsPorts."
)
public func CFMachPortCreateRunLoopSource<Port>(
    _ allocator: CFAllocator!, _ port: Port, _ order: CFIndex
) -> CFRunLoopSource! { isNotCalled() }

/// Makes Core Foundation's source of a file descriptor; not available here.
@available(
    *, unavailable,
    message:
        "Core Foundation has no CFFileDescriptor on Linux. Make a source of version 1 whose getPort returns the descriptor."
)
public func CFFileDescriptorCreateRunLoopSource<Descriptor>(
    _ allocator: CFAllocator!, _ f: Descriptor, _ order: CFIndex
) -> CFRunLoopSource! { isNotCalled() }

/// Makes Core Foundation's source of a notification to the user; not available here.
@available(*, unavailable, message: "Core Foundation has no CFUserNotification on Linux.")
public func CFUserNotificationCreateRunLoopSource<Notification, CallBack>(
    _ allocator: CFAllocator!, _ userNotification: Notification, _ callout: CallBack, _ order: CFIndex
) -> CFRunLoopSource! { isNotCalled() }

/// Adds a stream to Core Foundation's own loop; cannot take a loop of this library.
@available(
    *, unavailable,
    message:
        "Streams of Core Foundation know only its own loop. Use SocketStream of RunLoopsEvents, or a source of version 1."
)
public func CFReadStreamScheduleWithRunLoop(
    _ stream: CFReadStream!, _ runLoop: CFRunLoop!, _ runLoopMode: CFString!
) { isNotCalled() }

/// Adds a stream to Core Foundation's own loop; cannot take a loop of this library.
@available(
    *, unavailable,
    message:
        "Streams of Core Foundation know only its own loop. Use SocketStream of RunLoopsEvents, or a source of version 1."
)
public func CFReadStreamScheduleWithRunLoop(
    _ stream: CFReadStream!, _ runLoop: CFRunLoop!, _ runLoopMode: CFRunLoopMode!
) { isNotCalled() }

/// Removes a stream from Core Foundation's own loop; cannot take a loop of this library.
@available(
    *, unavailable,
    message:
        "Streams of Core Foundation know only its own loop. Use SocketStream of RunLoopsEvents, or a source of version 1."
)
public func CFReadStreamUnscheduleFromRunLoop(
    _ stream: CFReadStream!, _ runLoop: CFRunLoop!, _ runLoopMode: CFString!
) { isNotCalled() }

/// Removes a stream from Core Foundation's own loop; cannot take a loop of this library.
@available(
    *, unavailable,
    message:
        "Streams of Core Foundation know only its own loop. Use SocketStream of RunLoopsEvents, or a source of version 1."
)
public func CFReadStreamUnscheduleFromRunLoop(
    _ stream: CFReadStream!, _ runLoop: CFRunLoop!, _ runLoopMode: CFRunLoopMode!
) { isNotCalled() }

/// Adds a stream to Core Foundation's own loop; cannot take a loop of this library.
@available(
    *, unavailable,
    message:
        "Streams of Core Foundation know only its own loop. Use SocketStream of RunLoopsEvents, or a source of version 1."
)
public func CFWriteStreamScheduleWithRunLoop(
    _ stream: CFWriteStream!, _ runLoop: CFRunLoop!, _ runLoopMode: CFString!
) { isNotCalled() }

/// Adds a stream to Core Foundation's own loop; cannot take a loop of this library.
@available(
    *, unavailable,
    message:
        "Streams of Core Foundation know only its own loop. Use SocketStream of RunLoopsEvents, or a source of version 1."
)
public func CFWriteStreamScheduleWithRunLoop(
    _ stream: CFWriteStream!, _ runLoop: CFRunLoop!, _ runLoopMode: CFRunLoopMode!
) { isNotCalled() }

/// Removes a stream from Core Foundation's own loop; cannot take a loop of this library.
@available(
    *, unavailable,
    message:
        "Streams of Core Foundation know only its own loop. Use SocketStream of RunLoopsEvents, or a source of version 1."
)
public func CFWriteStreamUnscheduleFromRunLoop(
    _ stream: CFWriteStream!, _ runLoop: CFRunLoop!, _ runLoopMode: CFString!
) { isNotCalled() }

/// Removes a stream from Core Foundation's own loop; cannot take a loop of this library.
@available(
    *, unavailable,
    message:
        "Streams of Core Foundation know only its own loop. Use SocketStream of RunLoopsEvents, or a source of version 1."
)
public func CFWriteStreamUnscheduleFromRunLoop(
    _ stream: CFWriteStream!, _ runLoop: CFRunLoop!, _ runLoopMode: CFRunLoopMode!
) { isNotCalled() }

private func isNotCalled() -> Never { fatalError("The compiler refuses each call of this.") }
#endif
