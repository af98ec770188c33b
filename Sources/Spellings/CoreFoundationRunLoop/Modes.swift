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
/// The toolchain's Core Foundation makes it another name of `CFString`, without `defaultMode` and `commonModes`.
/// Every function that takes a mode takes a `CFString` as well, such as `kCFRunLoopDefaultMode`.
public typealias CFRunLoopMode = CCoreFoundationRunLoop.CFRunLoopMode

extension CFRunLoopMode {
    /// The mode for everything that needs no other mode.
    public static var defaultMode: CFRunLoopMode { kCFRunLoopDefaultMode }

    /// Not a mode to run in but a mark: all modes that are marked as common.
    public static var commonModes: CFRunLoopMode { kCFRunLoopCommonModes }

    /// The mode with this name.
    ///
    /// Where Apple's systems have `CFRunLoopMode("name" as CFString)`: Swift has no such cast on Linux.
    public init(_ name: String) { self.init(rawValue: CFString.make(name)) }
}

// The type is this library's own: only its declaration is in C.
// swift-format-ignore: AvoidRetroactiveConformances
extension CFRunLoopMode: @retroactive Equatable, @retroactive Hashable {
    /// Whether both have the same name.
    public static func == (left: CFRunLoopMode, right: CFRunLoopMode) -> Bool {
        CFEqual(left.rawValue, right.rawValue)
    }

    /// Hashes the name.
    public func hash(into hasher: inout Hasher) { hasher.combine(CFHash(rawValue)) }
}

/// The mode of that name, where a mode is asked for; otherwise Core Foundation's function, which makes a string.
///
/// With the toolchain's module a mode is a string, and programs for Linux make one so. `alloc` has no effect.
@_disfavoredOverload
public func CFStringCreateWithCString(
    _ alloc: CFAllocator!, _ cStr: UnsafePointer<CChar>!, _ encoding: CFStringEncoding
) -> CFRunLoopMode! {
    let name: CFString? = CoreFoundation.CFStringCreateWithCString(alloc, cStr, encoding)
    return name.map { CFRunLoopMode(rawValue: $0) }
}

extension RunLoop.Mode {
    /// The mode with Core Foundation's name; traps without one.
    @inline(__always)
    init(_ name: CFString?, _ function: StaticString) {
        guard let name else {
            fatalError("\(function) was given NULL in place of a mode. Use kCFRunLoopDefaultMode.")
        }
        if let known = Self.known(name) { self = known } else { self.init(rawValue: name.text) }
    }

    /// The mode if the object is one of the two strings that most calls name, which are known by their addresses.
    @inline(__always)
    static func known(_ name: AnyObject) -> RunLoop.Mode? {
        switch rl_known_mode(Unmanaged.passUnretained(name).toOpaque()) {
        case 0: .default
        case 1: .common
        default: nil
        }
    }

    /// The mode's name for Core Foundation.
    var name: CFString {
        switch self {
        case .default: kCFRunLoopDefaultMode
        case .common: kCFRunLoopCommonModes
        default: CFString.make(rawValue)
        }
    }
}
#endif
