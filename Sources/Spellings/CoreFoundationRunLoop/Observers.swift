// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

// The names are Core Foundation's.
// swift-format-ignore-file: AlwaysUseLowerCamelCase

#if os(Linux) && !EXPORTS_ORIGINALS
internal import CCoreFoundationRunLoop
public import CoreFoundation
internal import RunLoops

/// The Swift object behind a `CFRunLoopObserver`.
final class ObserverFace: ItemFace, @unchecked Sendable {
    let native: RunLoop.Observer
    /// The context with the retained `info`, which is valid while the observer is valid.
    private var context = CFRunLoopObserverContext()
    private let callout: UnsafeRawPointer?

    /// - Parameter call: The function that the observer calls, with its instance.
    private init(
        _ activities: CFOptionFlags, repeats: Bool, order: CFIndex, _ callout: UnsafeRawPointer?,
        _ call: @escaping (CFRunLoopObserver, CFRunLoopActivity) -> Void
    ) {
        self.callout = callout
        // SAFETY: only the thread of the loop that has the observer makes the call.
        nonisolated(unsafe) let call = call
        let instance = RLKind.observer.makeInstance()
        let holds = Holds(instance)
        let end = HoldsEnd(holds)
        native = .sendable(RunLoop.Activities(rawValue: activities), order: order, repeats: repeats) { _, activity in
            end.holds.withInstance(CFRunLoopObserver.self) { call($0, CFRunLoopActivity(rawValue: activity.rawValue)) }
        }
        super.init(instance, holds, order: order)
    }

    convenience init(
        _ activities: CFOptionFlags, repeats: Bool, order: CFIndex,
        calling callout: @escaping CFRunLoopObserverCallBack, _ context: CFRunLoopObserverContext?
    ) {
        let context = context ?? CFRunLoopObserverContext()
        let info = Info(context.info, retain: context.retain, release: context.release)
        let address = unsafeBitCast(callout, to: UnsafeRawPointer.self)
        self.init(activities, repeats: repeats, order: order, address) { callout($0, $1, info.pointer) }
        self.context = context
        self.context.info = info.pointer
    }

    convenience init(
        _ activities: CFOptionFlags, repeats: Bool, order: CFIndex,
        handler: @escaping (CFRunLoopObserver?, CFRunLoopActivity) -> Void
    ) {
        self.init(activities, repeats: repeats, order: order, nil) { handler($0, $1) }
    }

    @inline(__always)
    static func of(_ observer: CFRunLoopObserver?, _ function: StaticString) -> ObserverFace {
        RLKind.observer.face(observer, ObserverFace.self, function).takeUnretainedValue()
    }

    /// The present context; its `info` is `nil` after the observer has become invalid, because it has been released.
    var currentContext: CFRunLoopObserverContext {
        var current = context
        if !native.isValid { current.info = nil }
        return current
    }

    override var summary: String {
        let context = currentContext
        let text = context.copyDescription?(context.info)?.takeRetainedValue().text
        return """
            <CFRunLoopObserver \(instance)>{valid = \(Self.describe(native.isValid)), \
            activities = 0x\(String(native.activities.rawValue, radix: 16)), \
            repeats = \(Self.describe(native.repeats)), order = \(order), callout = \(Self.describe(callout)), \
            context = \(text ?? "<CFRunLoopObserver context \(context.info.map { "\($0)" } ?? "0x0")>")}
            """
    }
}

/// Returns the type identifier of this library's observers.
@_cdecl("RLRunLoopObserverGetTypeID")
@discardableResult
public func CFRunLoopObserverGetTypeID() -> CFTypeID { RLKind.observer.typeID }

/// Makes an observer that calls a function; `allocator` has no effect.
@discardableResult
public func CFRunLoopObserverCreate(
    _ allocator: CFAllocator!, _ activities: CFOptionFlags, _ repeats: Bool, _ order: CFIndex,
    _ callout: CFRunLoopObserverCallBack!, _ context: UnsafeMutablePointer<CFRunLoopObserverContext>!
) -> CFRunLoopObserver! {
    guard let callout else {
        fatalError(
            "CFRunLoopObserverCreate was given no callout: an observer that calls nothing is of no use. Pass one.")
    }
    return ObserverFace(activities, repeats: repeats, order: order, calling: callout, context?.pointee)
        .takeInstance(CFRunLoopObserver.self)
}

/// Makes an observer that calls a closure; `allocator` has no effect.
@discardableResult
public func CFRunLoopObserverCreateWithHandler(
    _ allocator: CFAllocator!, _ activities: CFOptionFlags, _ repeats: Bool, _ order: CFIndex,
    _ block: ((CFRunLoopObserver?, CFRunLoopActivity) -> Void)!
) -> CFRunLoopObserver! {
    guard let block else {
        fatalError(
            "CFRunLoopObserverCreateWithHandler was given no block: an observer that calls nothing is of no use. Pass one."
        )
    }
    return ObserverFace(activities, repeats: repeats, order: order, handler: block)
        .takeInstance(CFRunLoopObserver.self)
}

// MARK: In a loop

/// Adds an observer to a mode of a loop, which keeps the observer until it is removed or invalid.
@_cdecl("RLRunLoopAddObserver")
public func CFRunLoopAddObserver(_ rl: CFRunLoop!, _ observer: CFRunLoopObserver!, _ mode: CFString!) {
    let face = ObserverFace.of(observer, #function)
    let mode = RunLoop.Mode(mode, #function)
    face.add(face.native, to: LoopFace.of(rl, #function)) { $0.addUnlessElsewhere(face.native, in: mode) }
}

/// Adds an observer to a mode of a loop, which keeps the observer until it is removed or invalid.
public func CFRunLoopAddObserver(_ rl: CFRunLoop!, _ observer: CFRunLoopObserver!, _ mode: CFRunLoopMode!) {
    CFRunLoopAddObserver(rl, observer, mode?.rawValue)
}

/// Removes an observer from a mode of a loop.
@_cdecl("RLRunLoopRemoveObserver")
public func CFRunLoopRemoveObserver(_ rl: CFRunLoop!, _ observer: CFRunLoopObserver!, _ mode: CFString!) {
    let face = ObserverFace.of(observer, #function)
    face.remove(face.native, from: RunLoop.Mode(mode, #function), of: LoopFace.of(rl, #function))
}

/// Removes an observer from a mode of a loop.
public func CFRunLoopRemoveObserver(_ rl: CFRunLoop!, _ observer: CFRunLoopObserver!, _ mode: CFRunLoopMode!) {
    CFRunLoopRemoveObserver(rl, observer, mode?.rawValue)
}

/// Whether an observer is in a mode of a loop.
@_cdecl("RLRunLoopContainsObserver")
@discardableResult
public func CFRunLoopContainsObserver(_ rl: CFRunLoop!, _ observer: CFRunLoopObserver!, _ mode: CFString!) -> Bool {
    let mode = RunLoop.Mode(mode, #function)
    return LoopFace.of(rl, #function).native.contains(ObserverFace.of(observer, #function).native, in: mode)
}

/// Whether an observer is in a mode of a loop.
@discardableResult
public func CFRunLoopContainsObserver(
    _ rl: CFRunLoop!, _ observer: CFRunLoopObserver!, _ mode: CFRunLoopMode!
) -> Bool {
    CFRunLoopContainsObserver(rl, observer, mode?.rawValue)
}

// MARK: Asking and changing

/// Returns the points of a run at which the observer is called.
@_cdecl("RLRunLoopObserverGetActivities")
@discardableResult
public func CFRunLoopObserverGetActivities(_ observer: CFRunLoopObserver!) -> CFOptionFlags {
    ObserverFace.of(observer, #function).native.activities.rawValue
}

/// Whether the observer is called more than once.
@_cdecl("RLRunLoopObserverDoesRepeat")
@discardableResult
public func CFRunLoopObserverDoesRepeat(_ observer: CFRunLoopObserver!) -> Bool {
    ObserverFace.of(observer, #function).native.repeats
}

/// Returns the order of the observer: of the observers of one mode, the one with the lowest order is called first.
@_cdecl("RLRunLoopObserverGetOrder")
@discardableResult
public func CFRunLoopObserverGetOrder(_ observer: CFRunLoopObserver!) -> CFIndex {
    ObserverFace.of(observer, #function).order
}

/// Removes the observer from its loop for good, and releases its `info`.
@_cdecl("RLRunLoopObserverInvalidate")
public func CFRunLoopObserverInvalidate(_ observer: CFRunLoopObserver!) {
    ObserverFace.of(observer, #function).native.invalidate()
}

/// Whether the observer can still be called.
@_cdecl("RLRunLoopObserverIsValid")
@discardableResult
public func CFRunLoopObserverIsValid(_ observer: CFRunLoopObserver!) -> Bool {
    ObserverFace.of(observer, #function).native.isValid
}

/// Copies the observer's context.
@_cdecl("RLRunLoopObserverGetContext")
public func CFRunLoopObserverGetContext(
    _ observer: CFRunLoopObserver!, _ context: UnsafeMutablePointer<CFRunLoopObserverContext>!
) {
    context.pointee = ObserverFace.of(observer, #function).currentContext
}
#endif
