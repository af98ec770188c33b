// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

#if os(Linux) && !EXPORTS_ORIGINALS
internal import CCoreFoundationRunLoop
internal import CoreFoundation
internal import RunLoops

/// The Swift object behind a Core Foundation instance that this library makes.
///
/// Programs hold the instance, which is a real Core Foundation object, so that `CFRetain`, `CFEqual` and `CFShow` work. The
/// instance owns its face, and releases the face when Core Foundation finalizes the instance. A face does not own its
/// instance.
///
/// SAFETY: faces hold constants, items of the loop, which any thread may use, and what a lock guards.
class Face: @unchecked Sendable {
    /// The Core Foundation instance, which the face does not retain.
    let instance: UnsafeMutableRawPointer

    fileprivate static let areTypesRegistered: Void = {
        var calls = RLInstanceCalls(
            finalize: { Unmanaged<Face>.fromOpaque($0).release() },
            equal: { Face.of($0).isEqual(to: Face.of($1)) },
            hash: { Face.of($0).hash },
            copyDescription: { UnsafeRawPointer(Unmanaged.passRetained(CFString.make(Face.of($0).summary)).toOpaque()) }
        )
        rl_register_types(&calls)
    }()

    /// - Parameter instance: The instance that ``RLKind/makeInstance()`` has returned.
    init(_ instance: UnsafeMutableRawPointer) { self.instance = instance }

    /// Makes the instance the owner of this face; returns the instance, which the caller then owns.
    func takeInstance<Instance: AnyObject>(_ type: Instance.Type) -> Instance {
        rl_set_object(instance, Unmanaged.passRetained(self).toOpaque())
        return Unmanaged<Instance>.fromOpaque(instance).takeRetainedValue()
    }

    private static func of(_ object: UnsafeMutableRawPointer) -> Face {
        Unmanaged<Face>.fromOpaque(object).takeUnretainedValue()
    }

    // MARK: What Core Foundation asks

    /// Whether `other`, of the same type, counts as equal.
    func isEqual(to other: Face) -> Bool { self === other }
    /// The hash of the face; equal faces have equal hashes.
    var hash: CFHashCode { CFHashCode(bitPattern: instance) }
    /// The text that `CFShow` prints.
    var summary: String { "<\(type(of: self)) \(instance)>" }
}

extension RLKind {
    var typeID: CFTypeID {
        Face.areTypesRegistered
        return rl_type_id(self)
    }

    /// Makes an instance without a face; ``Face/takeInstance(_:)`` adds the face.
    func makeInstance() -> UnsafeMutableRawPointer {
        Face.areTypesRegistered
        return rl_make_instance(self)
    }

    private var name: String {
        switch self {
        case .loop: "CFRunLoop"
        case .source: "CFRunLoopSource"
        case .timer: "CFRunLoopTimer"
        case .observer: "CFRunLoopObserver"
        }
    }

    /// Returns the face of an argument, without retaining it; traps if the argument is `nil` or of another type.
    ///
    /// The caller keeps the argument alive, and the argument keeps the face alive.
    @inline(__always)
    func face<Kind: Face>(_ instance: AnyObject?, _ kind: Kind.Type, _ function: StaticString) -> Unmanaged<Kind> {
        guard let instance, let object = rl_object(Unmanaged.passUnretained(instance).toOpaque(), self) else {
            refuse(instance, function)
        }
        // SAFETY: all instances of one type have faces of one class.
        return Unmanaged<Kind>.fromOpaque(object)
    }

    @inline(never)
    private func refuse(_ instance: AnyObject?, _ function: StaticString) -> Never {
        guard let instance else {
            fatalError("\(function) was given NULL in place of a \(name). Check the result of the call that made it.")
        }
        fatalError(
            """
            \(function) was given \(CFString.describe(instance)), which is no \(name) of CoreFoundationRunLoop. An object \
            of Core Foundation's own run loop does not work with this library's: import CoreFoundationRunLoop in the file \
            that makes it, in place of CoreFoundation and Foundation.
            """)
    }
}

extension CFString {
    static func make(_ text: String) -> CFString {
        CFStringCreateWithCString(nil, text, CFStringBuiltInEncodings.UTF8.rawValue)
    }

    /// The string as a Swift `String`, of any length.
    var text: String {
        let length =
            CFStringGetMaximumSizeForEncoding(CFStringGetLength(self), CFStringBuiltInEncodings.UTF8.rawValue) + 1
        return withUnsafeTemporaryAllocation(of: CChar.self, capacity: length) { buffer in
            guard CFStringGetCString(self, buffer.baseAddress, length, CFStringBuiltInEncodings.UTF8.rawValue) else {
                fatalError("A CFString of \(CFStringGetLength(self)) characters has no UTF-8 form.")
            }
            return String(cString: buffer.baseAddress!)
        }
    }

    static func describe(_ instance: AnyObject) -> String { CFCopyDescription(instance).text }
}
#endif
