// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

@preconcurrency import CoreFoundation
internal import Glibc

/// The `info` pointer of a Core Foundation item's C callbacks.
final class CoreFoundationHandle {
    var descriptor: CInt = -1
    private let receiver: any CalloutReceiver
    private let index: Int

    init(_ receiver: any CalloutReceiver, _ index: Int) {
        self.receiver = receiver
        self.index = index
    }

    func tell(_ callout: (Int) -> Callout) {
        receiver.receive(callout(index))
    }

    /// SAFETY: `info` is always a handle that the engine keeps until after the loop's last callout.
    static func of(_ info: UnsafeMutableRawPointer?) -> CoreFoundationHandle {
        Unmanaged<CoreFoundationHandle>.fromOpaque(info!).takeUnretainedValue()
    }
}

/// The parts of Core Foundation that its headers do not declare, or not in a form that Swift can use directly.
enum CoreFoundationText {
    static let engineName = "CFRunLoop"
    static let utf8 = CFStringBuiltInEncodings.UTF8.rawValue

    static func string(_ text: CFString) -> String {
        withUnsafeTemporaryAllocation(of: CChar.self, capacity: 128) { buffer in
            guard CFStringGetCString(text, buffer.baseAddress, buffer.count, utf8) else { return "?" }
            return String(cString: buffer.baseAddress!)
        }
    }

    /// The perform function of a source of version 1, whose descriptor the loop has read before.
    static let performDescriptor: @convention(c) (UnsafeMutableRawPointer?) -> Void = {
        CoreFoundationHandle.of($0).tell { .descriptor($0) }
    }

    /// `CFRunLoopSourceIsSignalled` is exported by the library but declared in no public header.
    private typealias IsSignalled = @convention(c) (CFRunLoopSource) -> UInt8

    private static let isSignalledFunction: IsSignalled = {
        guard let symbol = dlsym(nil, "CFRunLoopSourceIsSignalled") else {
            preconditionFailure("this toolchain's Foundation does not export CFRunLoopSourceIsSignalled")
        }
        // SAFETY: Boolean CFRunLoopSourceIsSignalled(CFRunLoopSourceRef), a Boolean being an unsigned char.
        return unsafeBitCast(symbol, to: IsSignalled.self)
    }()

    static func isSignalled(_ source: CFRunLoopSource) -> Bool {
        isSignalledFunction(source) != 0
    }
}

/// The preparation that the main loop needs once per process.
enum CoreFoundationMainThread {
    /// Adds a timer to the default mode that never fires: without it, the mode's timer descriptor stays armed for the
    /// last date of one scenario and causes an empty turn in the next.
    static let prepare: Void = {
        let decades = CFAbsoluteTimeGetCurrent() + 1e9
        let timer = CFRunLoopTimerCreate(nil, decades, 0, 0, 0, { _, _ in }, nil)
        CFRunLoopAddTimer(CFRunLoopGetMain(), timer, kCFRunLoopDefaultMode)
    }()
}
