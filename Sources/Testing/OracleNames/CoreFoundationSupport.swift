// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

@preconcurrency import CoreFoundationRunLoop
internal import Glibc
internal import OracleScenarios

/// The `info` pointer of an item's C callbacks.
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

/// The parts of Core Foundation's interface in which this library differs from the toolchain's header.
enum CoreFoundationText {
    static let engineName = "RunLoops under Core Foundation's names"
    static let utf8 = CFStringBuiltInEncodings.UTF8.rawValue

    static func string(_ mode: CFRunLoopMode) -> String {
        withUnsafeTemporaryAllocation(of: CChar.self, capacity: 128) { buffer in
            guard CFStringGetCString(mode.rawValue, buffer.baseAddress, buffer.count, utf8) else { return "?" }
            return String(cString: buffer.baseAddress!)
        }
    }

    /// The perform function of a source of version 1: it reads the descriptor, which the toolchain's loop does by itself.
    static let performDescriptor:
        @convention(c) (
            UnsafeMutableRawPointer?, CFIndex, CFAllocator?, UnsafeMutableRawPointer?
        ) -> UnsafeMutableRawPointer? = { _, _, _, info in
            let handle = CoreFoundationHandle.of(info)
            var value: UInt64 = 0
            _ = read(handle.descriptor, &value, 8)
            handle.tell { .descriptor($0) }
            return nil
        }

    static func isSignalled(_ source: CFRunLoopSource) -> Bool { CFRunLoopSourceIsSignalled(source) }
}

/// The preparation that the main loop needs once per process, the same as for the toolchain's loop.
enum CoreFoundationMainThread {
    static let prepare: Void = {
        let decades = CFAbsoluteTimeGetCurrent() + 1e9
        let timer = CFRunLoopTimerCreate(nil, decades, 0, 0, 0, { _, _ in }, nil)
        CFRunLoopAddTimer(CFRunLoopGetMain(), timer, .defaultMode)
    }()
}
