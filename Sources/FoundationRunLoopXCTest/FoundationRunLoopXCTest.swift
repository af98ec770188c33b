// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

internal import CGuestAtLoad
internal import Dispatch
internal import RunLoops
internal import RunLoopsDispatch

#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#endif

/// Has the main loop run while a test waits in XCTest.
///
/// `waitForExpectations`, `wait(for:)` and asynchronous tests of XCTest run Foundation's own loop on the main thread.
/// A test target that depends on this module has this package's main loop as a guest in it: timers, ports and closures
/// of `FoundationRunLoop` are served while XCTest waits. One line in the manifest is enough; no test imports the
/// module.
///
/// Under Swift Testing, which gives the main thread away, the module does nothing: there `RunLoopsTestingMain` runs the
/// main loop.
@MainActor
private enum Guest {
    /// Never released: the loop stays a guest for as long as there are tests.
    static var guest: MainQueueGuest?

    static func enter() {
        do {
            guest = try MainQueueGuest()
        } catch {
            fatalError("The main run loop cannot be a guest of XCTest's: \(error)")
        }
    }
}

/// The C part calls this when the program is loaded.
@_cdecl("run_loops_guest_at_load")
func enterMainQueueAtLoad() {
    // A program without XCTest in it is not touched: it runs the main loop itself.
    guard dlopen("libXCTest.so", RTLD_LAZY | RTLD_NOLOAD) != nil else { return }
    // Not before the first wait: nor is a program that runs no test of XCTest.
    DispatchQueue.main.async {
        // Where the main thread was given away, another thread does the main queue's work.
        guard SystemCalls.threadID == SystemCalls.mainThreadID else { return }
        MainActor.assumeIsolated { Guest.enter() }
    }
}
