// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

// The names are Core Foundation's.
// swift-format-ignore-file: AlwaysUseLowerCamelCase

// A module of its own: in CoreFoundationRunLoop these names would hide Core Foundation's strings of the same name.
public import CCoreFoundationRunLoop
internal import CoreFoundation

/// The default mode, in code that needs a `CFRunLoopMode`; in other code the name is Core Foundation's string.
@_disfavoredOverload
public var kCFRunLoopDefaultMode: CCoreFoundationRunLoop.CFRunLoopMode! { .kCFRunLoopDefaultMode }

/// The name of the common modes, in code that needs a `CFRunLoopMode`; in other code it is Core Foundation's string.
@_disfavoredOverload
public var kCFRunLoopCommonModes: CCoreFoundationRunLoop.CFRunLoopMode! { .kCFRunLoopCommonModes }

// Found first in an extension of the type, where code for Linux says `static let defaultMode = kCFRunLoopDefaultMode!`.
extension CCoreFoundationRunLoop.CFRunLoopMode {
    /// The default mode.
    public static var kCFRunLoopDefaultMode: CCoreFoundationRunLoop.CFRunLoopMode! {
        .init(rawValue: CoreFoundation.kCFRunLoopDefaultMode)
    }

    /// The name of the common modes.
    public static var kCFRunLoopCommonModes: CCoreFoundationRunLoop.CFRunLoopMode! {
        .init(rawValue: CoreFoundation.kCFRunLoopCommonModes)
    }
}
