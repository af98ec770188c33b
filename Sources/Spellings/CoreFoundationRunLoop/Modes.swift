// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

// The names are Core Foundation's.
// swift-format-ignore-file: AlwaysUseLowerCamelCase

#if os(Linux) && !EXPORTS_ORIGINALS
public import CCoreFoundationRunLoop
public import CoreFoundation
internal import RunLoops

/// The name of a mode that a run loop can run in, as a type of its own.
///
/// The toolchain's Core Foundation declares this as another name of `CFString`, without `defaultMode` and
/// `commonModes`. Every function that takes a mode takes a `CFString` as well, such as `kCFRunLoopDefaultMode`.
public typealias CFRunLoopMode = CCoreFoundationRunLoop.CFRunLoopMode

extension CFRunLoopMode {
    /// The default mode, for items that need no other mode.
    public static var defaultMode: CFRunLoopMode { kCFRunLoopDefaultMode }

    /// A name for all modes that are marked as common; a loop cannot run in it.
    public static var commonModes: CFRunLoopMode { kCFRunLoopCommonModes }

    /// Makes the mode with this name.
    ///
    /// On Apple's systems the same is `CFRunLoopMode("name" as CFString)`: Swift has no such cast on Linux.
    public init(_ name: String) { self.init(rawValue: CFString.make(name)) }
}

// The type is this library's own: only its declaration is in C.
// swift-format-ignore: AvoidRetroactiveConformances
extension CFRunLoopMode: @retroactive Equatable, @retroactive Hashable {
    /// Whether both modes have the same name.
    public static func == (left: CFRunLoopMode, right: CFRunLoopMode) -> Bool {
        CFEqual(left.rawValue, right.rawValue)
    }

    /// Hashes the name.
    public func hash(into hasher: inout Hasher) { hasher.combine(CFHash(rawValue)) }
}

/// Makes a mode with a name, where the compiler needs a mode; otherwise it chooses Core Foundation's function, which
/// makes a string.
///
/// With the toolchain's module a mode is a string, and programs for Linux make modes with this function. `alloc` has no
/// effect.
@_disfavoredOverload
public func CFStringCreateWithCString(
    _ alloc: CFAllocator!, _ cStr: UnsafePointer<CChar>!, _ encoding: CFStringEncoding
) -> CFRunLoopMode! {
    let name: CFString? = CoreFoundation.CFStringCreateWithCString(alloc, cStr, encoding)
    return name.map { CFRunLoopMode(rawValue: $0) }
}

extension RunLoop.Mode {
    /// Makes the mode with a name of Core Foundation's; traps if the name is `nil`.
    @inline(__always)
    init(_ name: CFString?, _ function: StaticString) {
        guard let name else {
            fatalError("\(function) was given NULL in place of a mode. Use kCFRunLoopDefaultMode.")
        }
        if let known = Self.known(name) { self = known } else { self.init(rawValue: name.text) }
    }

    /// Returns the default mode or the common modes if the object is the string of one of them, compared by address;
    /// otherwise `nil`.
    @inline(__always)
    static func known(_ name: AnyObject) -> RunLoop.Mode? {
        switch rl_known_mode(Unmanaged.passUnretained(name).toOpaque()) {
        case 0: .default
        case 1: .common
        default: nil
        }
    }

    /// The mode's name as a `CFString`.
    var name: CFString {
        switch self {
        case .default: kCFRunLoopDefaultMode
        case .common: kCFRunLoopCommonModes
        default: CFString.make(rawValue)
        }
    }
}
#endif
