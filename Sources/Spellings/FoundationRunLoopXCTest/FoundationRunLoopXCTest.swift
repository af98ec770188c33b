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
///
/// The loop is a guest only of the program's own runs of Foundation's loop. `RunLoopsFoundation` runs Foundation's loop inside
/// this package's loop, where the guest would run this loop inside itself.
@MainActor
private final class Guest {
    static var shared: Guest?

    private let source: CFRunLoopSource?
    /// The number of the program's runs of Foundation's main loop in progress.
    private var runs = 0

    init() {
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
        context.perform = { _ in MainActor.assumeIsolated { Guest.shared?.runReady() } }
        // The two versions of the context begin alike, and CFRunLoopSourceCreate looks at `version` to tell them apart.
        source = withUnsafeMutableBytes(of: &context) { bytes in
            // SAFETY: version is 1, so that as many bytes are read as a CFRunLoopSourceContext1 has.
            CFRunLoopSourceCreate(nil, 0, bytes.assumingMemoryBound(to: CFRunLoopSourceContext.self).baseAddress)
        }
    }

    /// Called in runs of Foundation's main loop; the main thread.
    nonisolated static func passes(_ activity: CFRunLoopActivity) {
        MainActor.assumeIsolated {
            guard run_loops_is_run_by_program() else { return }
            // Not before the first run: a program that runs no test of XCTest is not touched.
            let guest = shared ?? Guest()
            shared = guest
            guest.passes(activity)
        }
    }

    private func passes(_ activity: CFRunLoopActivity) {
        switch activity {
        case .entry:
            runs += 1
            if runs > 1 { break }
            CFRunLoopAddSource(CFRunLoopGetMain(), source, kCFRunLoopCommonModes)
            // Until a call says otherwise, the descriptor stands for the work of the main queue too, which Foundation's loop does.
            RunLoop.main.wait(in: .default, servingMainQueue: false)
        case .beforeWaiting:
            // The program may have given the loop work without a wake-up. It is done when the source is performed, and not
            // here, because a wait such as `run(mode:before:)` ends only after a source.
            if RunLoop.main.prepareToPoll(in: .default) { RunLoop.main.wakeUp() }
        default:
            runs -= 1
            // A run of this loop that serves Foundation's loop waits for Foundation's descriptor, and two descriptors cannot
            // wait for each other.
            if runs == 0 { CFRunLoopRemoveSource(CFRunLoopGetMain(), source, kCFRunLoopCommonModes) }
        }
    }

    private func runReady() { RunLoop.main.runReady(in: .default, servingMainQueue: false) }
}

/// Called by the C part when the program is loaded.
@_cdecl("run_loops_guest_at_load")
func enterFoundationsLoopAtLoad() {
    // A program without XCTest in it is not touched: it runs the main loop itself.
    guard dlopen("libXCTest.so", RTLD_LAZY | RTLD_NOLOAD) != nil else { return }
    let activities: CFRunLoopActivity = [.entry, .beforeWaiting, .exit]
    let observer = CFRunLoopObserverCreate(
        nil, activities.rawValue, true, 0, { _, activity, _ in Guest.passes(activity) }, nil)
    CFRunLoopAddObserver(CFRunLoopGetMain(), observer, kCFRunLoopCommonModes)
}
