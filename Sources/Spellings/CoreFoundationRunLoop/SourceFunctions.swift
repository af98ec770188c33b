// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

// The names are Core Foundation's.
// swift-format-ignore-file: AlwaysUseLowerCamelCase

#if os(Linux) && !EXPORTS_ORIGINALS
public import CCoreFoundationRunLoop
public import CoreFoundation
internal import RunLoops

/// The context of a source of version 0: Core Foundation's structure, with functions that take a ``CFRunLoopMode``.
public typealias CFRunLoopSourceContext = RLRunLoopSourceContext

/// The context of a source of version 1, whose perform function has the four arguments of Apple's systems.
///
/// The port is a file descriptor. The perform function is called once a turn while the descriptor is readable, and
/// reads from it. It returns `nil`, or a reply: a `CFData` that the caller owns, such as
/// `Unmanaged.passRetained(data).toOpaque()`. The loop writes the reply to the descriptor, and releases it. The loop
/// waits for room, and drops the rest of the reply after five seconds without progress.
public typealias CFRunLoopSourceContext1 = RLRunLoopSourceContext1

/// Returns the type identifier of this library's sources.
@_cdecl("RLRunLoopSourceGetTypeID")
@discardableResult
public func CFRunLoopSourceGetTypeID() -> CFTypeID { RLKind.source.typeID }

/// Makes a source of the version that the context names; `allocator` has no effect.
///
/// - Precondition: the version is 0, or 1 and `context` points to a `CFRunLoopSourceContext1`.
@discardableResult
public func CFRunLoopSourceCreate(
    _ allocator: CFAllocator!, _ order: CFIndex, _ context: UnsafeMutablePointer<CFRunLoopSourceContext>!
) -> CFRunLoopSource! {
    guard let context else {
        fatalError("CFRunLoopSourceCreate was given no context, which says what the source performs. Pass one.")
    }
    switch context.pointee.version {
    case 0: return SignalledFace(order: order, context.pointee).takeInstance(CFRunLoopSource.self)
    case 1:
        // SAFETY: the version says that there is as much memory as the larger structure needs.
        let port = UnsafeRawPointer(context).loadUnaligned(as: CFRunLoopSourceContext1.self)
        guard port.getPort != nil else {
            fatalError(
                "CFRunLoopSourceCreate was given a context of version 1 without getPort. Return the descriptor there.")
        }
        return PortFace(order: order, port).takeInstance(CFRunLoopSource.self)
    case let version:
        fatalError(
            """
            CFRunLoopSourceCreate was given a context of version \(version). Set the version to 0, or to 1 for a \
            CFRunLoopSourceContext1; a context that was not set to zero has any.
            """)
    }
}

// MARK: In a loop

/// Adds a source to a mode of a loop, which keeps the source until it is removed or invalid.
@_cdecl("RLRunLoopAddSource")
public func CFRunLoopAddSource(_ rl: CFRunLoop!, _ source: CFRunLoopSource!, _ mode: CFString!) {
    let face = SourceFace.of(source, #function)
    face.add(to: LoopFace.of(rl, #function), RunLoop.Mode(mode, #function))
}

/// Adds a source to a mode of a loop, which keeps the source until it is removed or invalid.
public func CFRunLoopAddSource(_ rl: CFRunLoop!, _ source: CFRunLoopSource!, _ mode: CFRunLoopMode!) {
    CFRunLoopAddSource(rl, source, mode?.rawValue)
}

/// Removes a source from a mode of a loop.
@_cdecl("RLRunLoopRemoveSource")
public func CFRunLoopRemoveSource(_ rl: CFRunLoop!, _ source: CFRunLoopSource!, _ mode: CFString!) {
    let face = SourceFace.of(source, #function)
    face.remove(face.native, from: RunLoop.Mode(mode, #function), of: LoopFace.of(rl, #function))
}

/// Removes a source from a mode of a loop.
public func CFRunLoopRemoveSource(_ rl: CFRunLoop!, _ source: CFRunLoopSource!, _ mode: CFRunLoopMode!) {
    CFRunLoopRemoveSource(rl, source, mode?.rawValue)
}

/// Whether a source is in a mode of a loop.
@_cdecl("RLRunLoopContainsSource")
@discardableResult
public func CFRunLoopContainsSource(_ rl: CFRunLoop!, _ source: CFRunLoopSource!, _ mode: CFString!) -> Bool {
    let mode = RunLoop.Mode(mode, #function)
    return LoopFace.of(rl, #function).native.contains(SourceFace.of(source, #function).native, in: mode)
}

/// Whether a source is in a mode of a loop.
@discardableResult
public func CFRunLoopContainsSource(_ rl: CFRunLoop!, _ source: CFRunLoopSource!, _ mode: CFRunLoopMode!) -> Bool {
    CFRunLoopContainsSource(rl, source, mode?.rawValue)
}

// MARK: Asking and changing

/// Signals a source of version 0, so that a loop performs it in its next turn; does not wake the loop.
@_cdecl("RLRunLoopSourceSignal")
public func CFRunLoopSourceSignal(_ source: CFRunLoopSource!) { SourceFace.with(source, #function) { $0.signal() } }

/// Returns the source's order: of the signalled sources of one mode, the one with the lowest order is performed first.
@_cdecl("RLRunLoopSourceGetOrder")
@discardableResult
public func CFRunLoopSourceGetOrder(_ source: CFRunLoopSource!) -> CFIndex { SourceFace.of(source, #function).order }

/// Removes the source from all loops for good; its `info` is released with the source.
@_cdecl("RLRunLoopSourceInvalidate")
public func CFRunLoopSourceInvalidate(_ source: CFRunLoopSource!) {
    SourceFace.of(source, #function).native.invalidate()
}

/// Whether the source can still be performed.
@_cdecl("RLRunLoopSourceIsValid")
@discardableResult
public func CFRunLoopSourceIsValid(_ source: CFRunLoopSource!) -> Bool {
    SourceFace.of(source, #function).native.isValid
}

/// Copies the source's context to `context`, which must have room for a context of the source's version.
@_cdecl("RLRunLoopSourceGetContext")
public func CFRunLoopSourceGetContext(
    _ source: CFRunLoopSource!, _ context: UnsafeMutablePointer<CFRunLoopSourceContext>!
) {
    SourceFace.of(source, #function).copyContext(to: UnsafeMutableRawPointer(context))
}

/// Whether a source of version 0 is signalled and not yet performed.
///
/// Core Foundation exports this function without a header.
package func CFRunLoopSourceIsSignalled(_ source: CFRunLoopSource!) -> Bool {
    SourceFace.of(source, #function).isSignalled
}
#endif
