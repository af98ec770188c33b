// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

internal import CLinuxKernel
internal import Synchronization

#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#endif

/// Foundation's main loop, seen through Core Foundation's functions, where the process has them.
///
/// Nothing is linked: a program without Foundation has none of the symbols, and gets none.
package enum FoundationLoop {
    private typealias GetMain = @convention(c) () -> OpaquePointer?
    private typealias CopyCurrentMode = @convention(c) (OpaquePointer) -> OpaquePointer?
    private typealias Release = @convention(c) (OpaquePointer) -> Void
    private typealias NextDate = @convention(c) (OpaquePointer, OpaquePointer) -> Double
    private typealias Now = @convention(c) () -> Double

    /// For how many nanoseconds a timer of its default mode has been due while nobody runs it; `nil` if none is, or
    /// somebody runs it.
    ///
    /// Any thread.
    package static func timerOverdue() -> Int64? {
        // A century is more than a program waits.
        idleTimer().flatMap { $0 <= 0 ? nil : Int64(min($0, 3e9) * 1e9) }
    }

    /// How many runs of the main loop still look for such a timer.
    private static let looksLeft = Atomic<Int>(8)

    /// Says once that Foundation's main loop has a timer, and that nobody runs that loop.
    ///
    /// A file that imports both modules, and does not say which `RunLoop` it means, compiles where only one of the two
    /// loops has a method of the name: so one file may use both. The main loop asks at the beginning of its first runs.
    static func complainOfTimer() {
        // Relaxed: at worst two threads say it.
        let left = looksLeft.load(ordering: .relaxed)
        // Core Foundation is not for forked children.
        guard left > 0, rl_fork_count() == 0 else { return }
        guard idleTimer() != nil else { return looksLeft.store(left - 1, ordering: .relaxed) }
        looksLeft.store(0, ordering: .relaxed)
        SystemCalls.writeToStandardError(
            """
            RunLoops: Foundation's main loop has a timer, and the main thread runs the loop of RunLoops, which does not serve \
            it. If that is not on purpose, write `import class RunLoops.RunLoop` in each file that imports both modules, and \
            make a RunLoop.Timer instead of a Timer.

            """)
    }

    /// For how many seconds a timer of its default mode has been due, negative before its date, while nobody runs the
    /// loop.
    private static func idleTimer() -> Double? {
        guard let getMain = symbol("CFRunLoopGetMain"), let copyMode = symbol("CFRunLoopCopyCurrentMode"),
            let release = symbol("CFRelease"), let nextDate = symbol("CFRunLoopGetNextTimerFireDate"),
            let now = symbol("CFAbsoluteTimeGetCurrent"),
            // SAFETY: a constant of Core Foundation's, a string.
            let mode = symbol("kCFRunLoopDefaultMode")?.load(as: OpaquePointer?.self),
            // SAFETY: here and below, functions of these types in every version of Core Foundation.
            let main = unsafeBitCast(getMain, to: GetMain.self)()
        else { return nil }
        if let current = unsafeBitCast(copyMode, to: CopyCurrentMode.self)(main) {
            unsafeBitCast(release, to: Release.self)(current)
            return nil
        }
        let date = unsafeBitCast(nextDate, to: NextDate.self)(main, mode)
        // No date is 0.
        return date == 0 ? nil : unsafeBitCast(now, to: Now.self)() - date
    }

    private static func symbol(_ name: String) -> UnsafeMutableRawPointer? { dlsym(nil, name) }
}
