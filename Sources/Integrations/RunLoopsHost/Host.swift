// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

internal import CRunLoopsHost
internal import RunLoops

// The functions of RunLoopsHost.h, which documents them. `@_cdecl` in place of `@c`, which Swift has from 6.3 on: this package compiles
// with 6.2. `HostHeaderTests` has the compiler compare each function with its declaration, as `@implementation` would.

@_cdecl("runloops_host_version")
func version() -> UInt32 { UInt32(RUNLOOPS_HOST_VERSION) }

// MARK: Loops

@_cdecl("runloops_main")
func mainLoop() -> OpaquePointer? { handle(RunLoop.main) }

@_cdecl("runloops_current")
func currentLoop() -> OpaquePointer? { handle(RunLoop.current) }

@_cdecl("runloops_retain")
func retain(_ handle: OpaquePointer?) -> OpaquePointer? {
    // SAFETY: one reference, for the runloops_release() that the caller owes.
    OpaquePointer(Unmanaged.passRetained(loop(handle, "runloops_retain")).toOpaque())
}

@_cdecl("runloops_release")
func release(_ handle: OpaquePointer?) {
    // SAFETY: ends a retain() of the caller's.
    Unmanaged.passUnretained(loop(handle, "runloops_release")).release()
}

// MARK: The host

@_cdecl("runloops_poll_descriptor")
func pollDescriptor(_ handle: OpaquePointer?) -> CInt {
    do {
        return try loop(handle, "runloops_poll_descriptor").pollDescriptor
    } catch {
        return -error.code
    }
}

@_cdecl("runloops_prepare_to_poll")
func prepareToPoll(_ handle: OpaquePointer?, _ name: UnsafePointer<CChar>?) -> Bool {
    loop(handle, "runloops_prepare_to_poll").prepareToPoll(in: mode(name, "runloops_prepare_to_poll"))
}

@_cdecl("runloops_run_ready")
func runReady(_ handle: OpaquePointer?, _ name: UnsafePointer<CChar>?, _ flags: UInt32) -> CInt {
    let hostServesMainQueue: UInt32 = 1
    require(
        flags & ~hostServesMainQueue == 0,
        "runloops_run_ready was called with the flags \(flags): pass 0 or RUNLOOPS_HOST_SERVES_MAIN_QUEUE.")
    let loop = loop(handle, "runloops_run_ready")
    let mode = mode(name, "runloops_run_ready")
    return CInt(loop.runReady(in: mode, servingMainQueue: flags & hostServesMainQueue == 0).rawValue)
}

// MARK: Reaching a loop

@_cdecl("runloops_wake_up")
func wakeUp(_ handle: OpaquePointer?) { loop(handle, "runloops_wake_up").wakeUp() }

@_cdecl("runloops_stop")
func stop(_ handle: OpaquePointer?) { loop(handle, "runloops_stop").stop() }

@_cdecl("runloops_perform")
func perform(
    _ handle: OpaquePointer?, _ name: UnsafePointer<CChar>?,
    _ function: (@convention(c) (UnsafeMutableRawPointer?) -> Void)?, _ context: UnsafeMutableRawPointer?,
    _ release: (@convention(c) (UnsafeMutableRawPointer?) -> Void)?
) {
    guard let function else {
        fatalError("runloops_perform was called with NULL for the function: to wake the loop, call runloops_wake_up.")
    }
    let job = Job(function, context, release)
    loop(handle, "runloops_perform").perform(in: mode(name, "runloops_perform")) { job.run() }
}

/// A function of C's with its context, which is released when the loop releases the closure.
// Unchecked: what the context points to is the caller's, who may call from any thread.
private final class Job: @unchecked Sendable {
    private let function: @convention(c) (UnsafeMutableRawPointer?) -> Void
    private let context: UnsafeMutableRawPointer?
    private let release: (@convention(c) (UnsafeMutableRawPointer?) -> Void)?

    init(
        _ function: @escaping @convention(c) (UnsafeMutableRawPointer?) -> Void, _ context: UnsafeMutableRawPointer?,
        _ release: (@convention(c) (UnsafeMutableRawPointer?) -> Void)?
    ) {
        self.function = function
        self.context = context
        self.release = release
    }

    deinit { release?(context) }

    func run() { function(context) }
}

// MARK: What C passes

/// Keeps this code in the process, at the first loop that C asks for.
private let isKept: Void = runloops_keep_loaded()

private func handle(_ loop: RunLoop) -> OpaquePointer? {
    isKept
    // The thread keeps its loop, and the process the main loop: no reference is added.
    return OpaquePointer(Unmanaged.passUnretained(loop).toOpaque())
}

/// The loop that C names; traps for `NULL`.
private func loop(_ handle: OpaquePointer?, _ function: StaticString) -> RunLoop {
    guard let handle else {
        fatalError("\(function) was called with NULL: pass runloops_main() or runloops_current().")
    }
    // SAFETY: the pointer that `handle` made. The caller keeps to the life that the header gives it.
    return Unmanaged<RunLoop>.fromOpaque(UnsafeRawPointer(handle)).takeUnretainedValue()
}

/// The mode that C names; the default mode for `NULL`, without a look-up.
private func mode(_ name: UnsafePointer<CChar>?, _ function: StaticString) -> RunLoop.Mode {
    guard let name else { return .default }
    guard let name = String(validatingCString: name) else {
        // Two names that differ in such bytes alone would be one mode.
        fatalError("\(function) was called with the name of a mode that is not UTF-8: write the name in UTF-8.")
    }
    return RunLoop.Mode(name)
}
