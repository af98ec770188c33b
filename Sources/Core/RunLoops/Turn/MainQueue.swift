// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

internal import CRunLoopsKernel

/// Access of the main loop to libdispatch's main queue, which `@MainActor` uses too.
///
/// libdispatch exports what Core Foundation needs: a descriptor that is readable while the queue has work, and
/// a function that does the work on the main thread.
struct MainQueue {
    /// The descriptor, and the process that has made it: libdispatch makes the descriptor once, and a forked child
    /// shares it with its parent.
    private static let made = (descriptor: make(), generation: ForkGeneration())

    let descriptor: CInt

    /// Gets the queue's descriptor.
    ///
    /// Fails in a forked child whose parent has the descriptor, or has called `dispatchMain()` on its main thread,
    /// because libdispatch then makes no descriptor.
    init?() {
        if Self.made.generation.isInherited || Self.made.descriptor < 0 { return nil }
        descriptor = Self.made.descriptor
    }

    private static func make() -> CInt {
        // libdispatch makes an eventfd for the queue at the first call, and ends the process without a word when it gets
        // none.
        let trial = LinuxCalls.shared.eventCreate()
        if trial < 0 { refuse(RunLoop.SystemCallError(call: "eventfd", code: -trial)) }
        _ = LinuxCalls.shared.close(trial)
        return rl_main_queue_descriptor()
    }

    /// Makes what the main loop needs to wait for the queue in a mode, so that no run is refused it later.
    static func reserve(_ readiness: any Readiness) {
        do { try readiness.reserve() } catch { refuse(error) }
    }

    private static func refuse(_ error: RunLoop.SystemCallError) -> Never {
        fatalError(
            """
            The main loop cannot be made without descriptors for the main queue: \(error). Raise the limit of open \
            files (ulimit -n), close descriptors, or use RunLoop.main once before descriptors become scarce.
            """)
    }

    /// Whether the queue has work; reading the answer empties the descriptor.
    ///
    /// The descriptor has to be emptied before the work is done, or it stays readable.
    func takeReadiness() -> Bool { LinuxCalls.shared.eventTake(descriptor) > 0 }

    /// Runs the queued work.
    func drain() { rl_main_queue_drain() }
}
