// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

// The names are Core Foundation's.
// swift-format-ignore-file: AlwaysUseLowerCamelCase

#if os(Linux) && !EXPORTS_ORIGINALS
internal import CCoreFoundationRunLoop
public import CoreFoundation
internal import RunLoops

/// Runs a closure on the loop's thread, in the next turn of a run in `mode`; does not wake the loop.
///
/// `mode` is a string, or an array or a set of strings. Without a closure nothing happens, as in Core Foundation.
public func CFRunLoopPerformBlock(_ rl: CFRunLoop!, _ mode: CFTypeRef!, _ block: (() -> Void)!) {
    guard let block else { return }
    // SAFETY: as in Core Foundation, the program sees to it that the closure may run on the loop's thread. In a structure,
    // because the cast of a closure itself makes new closures around it.
    let body = unsafeBitCast(Plain(body: block), to: Shared.self).body
    LoopFace.with(rl, #function) {
        if let mode, let known = RunLoop.Mode.known(mode) {
            $0.native.perform(in: known, wake: false, body)
        } else {
            let modes = ModeNames.all(mode).map { RunLoop.Mode($0, #function) }
            if !modes.isEmpty { $0.native.perform(in: modes, wake: false, body) }
        }
    }
}

private struct Plain { let body: () -> Void }
private struct Shared { let body: @Sendable () -> Void }

/// The modes of a block: a string, or an array or a set of strings.
private enum ModeNames {
    @inline(never)
    static func all(_ modes: CFTypeRef?) -> [CFString?] {
        guard let modes else {
            fatalError("CFRunLoopPerformBlock was given NULL in place of a mode. Use kCFRunLoopDefaultMode.")
        }
        switch CFGetTypeID(modes) {
        case CFStringGetTypeID(): return [cast(modes, to: CFString.self)]
        case CFArrayGetTypeID():
            let array = cast(modes, to: CFArray.self)
            return (0..<CFArrayGetCount(array)).map { element(CFArrayGetValueAtIndex(array, $0)) }
        case CFSetGetTypeID():
            let set = cast(modes, to: CFSet.self)
            var values = [UnsafeRawPointer?](repeating: nil, count: CFSetGetCount(set))
            CFSetGetValues(set, &values)
            return values.map(element)
        default: refuse(modes)
        }
    }

    /// Casts without the Swift runtime, which does not know Core Foundation's types.
    private static func cast<Instance: AnyObject>(_ instance: AnyObject, to type: Instance.Type) -> Instance {
        Unmanaged<Instance>.fromOpaque(Unmanaged.passUnretained(instance).toOpaque()).takeUnretainedValue()
    }

    private static func element(_ value: UnsafeRawPointer?) -> CFString? {
        guard let value else { return nil }
        let name = Unmanaged<CFString>.fromOpaque(value).takeUnretainedValue()
        guard CFGetTypeID(name) == CFStringGetTypeID() else { refuse(name) }
        return name
    }

    private static func refuse(_ mode: AnyObject) -> Never {
        fatalError(
            """
            CFRunLoopPerformBlock was given \(CFString.describe(mode)) in place of a mode. Pass a CFString, or a CFArray \
            or CFSet of them.
            """)
    }
}
#endif
