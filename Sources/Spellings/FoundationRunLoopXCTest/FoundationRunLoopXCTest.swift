// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

internal import CFoundationRunLoopXCTest
@preconcurrency internal import CoreFoundation
internal import RunLoops
internal import RunLoopsLibC

/// Runs the main loop while a test waits in XCTest.
///
/// `waitForExpectations`, `wait(for:)` and asynchronous tests of XCTest run Foundation's own loop on the main thread.
/// In a test target that depends on this module, this package's main loop is a guest of Foundation's loop: timers,
/// ports and closures of `FoundationRunLoop` run while XCTest waits. One line in the manifest is enough; no test
/// imports the module.
///
/// Under Swift Testing, which leaves the main thread to libdispatch, the module does nothing: there
/// `RunLoopsTestingMain` runs the main loop.
///
/// Foundation's loop watches the guest's descriptor as a source of version 1. `MainQueueGuest` would be enough for the
/// waits, but it does its work on the main queue, and work of the main queue ends a test's own `run(mode:before:)`.
@MainActor
private enum Guest {
    static func enter() {
        let descriptor: CInt
        do {
            descriptor = try RunLoop.main.pollDescriptor
        } catch {
            fatalError("The main run loop cannot be a guest of XCTest's: \(error)")
        }
        var context = CFRunLoopSourceContext1()
        context.version = 1
        context.info = UnsafeMutableRawPointer(bitPattern: Int(descriptor))
        context.getPort = { CInt(Int(bitPattern: $0)) }
        context.perform = { _ in Guest.runReady() }
        // The two versions of the context begin alike, and CFRunLoopSourceCreate looks at `version` to tell them apart.
        let source = withUnsafeMutableBytes(of: &context) { bytes in
            // SAFETY: version is 1, so that as many bytes are read as a CFRunLoopSourceContext1 has.
            CFRunLoopSourceCreate(nil, 0, bytes.assumingMemoryBound(to: CFRunLoopSourceContext.self).baseAddress)
        }
        // Never removed: the loop stays a guest for as long as there are tests.
        CFRunLoopAddSource(CFRunLoopGetMain(), source, kCFRunLoopCommonModes)
        // The descriptor stands for the work of the main queue too until a call asks the loop to leave that work.
        runReady()
    }

    /// Called by Foundation's loop on the main thread.
    private nonisolated static func runReady() { RunLoop.main.runReady(in: .default, servingMainQueue: false) }
}

/// Called by the C part when the program is loaded.
@_cdecl("run_loops_guest_at_load")
func enterFoundationsLoopAtLoad() {
    // A program without XCTest in it is not touched: it runs the main loop itself.
    guard dlopen("libXCTest.so", RTLD_LAZY | RTLD_NOLOAD) != nil else { return }
    // Not before the first wait: nor is a program that runs no test of XCTest. In Foundation's loop, and not on the main
    // queue, which a test's own run serves too.
    CFRunLoopPerformBlock(CFRunLoopGetMain(), kCFRunLoopCommonModes) { MainActor.assumeIsolated { Guest.enter() } }
}
