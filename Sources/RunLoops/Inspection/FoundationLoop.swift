// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

internal import CLinuxKernel
internal import LinuxLibC
internal import Synchronization

/// Foundation's main loop, seen through Core Foundation's functions, where the process has them.
///
/// Nothing is linked: a program without Foundation has none of the symbols, and gets none.
package enum FoundationLoop {
    private typealias GetMain = @convention(c) () -> OpaquePointer?
    private typealias CopyCurrentMode = @convention(c) (OpaquePointer) -> OpaquePointer?
    private typealias Release = @convention(c) (OpaquePointer) -> Void
    private typealias NextDate = @convention(c) (OpaquePointer, OpaquePointer) -> Double
    private typealias Now = @convention(c) () -> Double
    private typealias IsFinished = @convention(c) (OpaquePointer, OpaquePointer) -> UInt8

    /// For how many nanoseconds a timer of its default mode has been due while nobody runs it; `nil` if none is, or
    /// somebody runs it.
    ///
    /// Any thread.
    package static func timerOverdue() -> Int64? {
        // A century is more than a program waits.
        idleTimer().flatMap { $0 <= 0 ? nil : Int64(min($0, 3e9) * 1e9) }
    }

    /// How many runs of the main loop still look for such items.
    private static let looksLeft = Atomic<Int>(8)

    /// Says once that Foundation's main loop has an item, and that nobody runs that loop.
    ///
    /// A file that imports both modules, and does not say which `RunLoop` it means, compiles where only one of the two
    /// loops has a method of the name: so one file may use both. The main loop asks at the beginning of its first runs.
    ///
    /// - Parameter isGuest: Whether this loop is the guest of another, such as Foundation's, which has a source of its guest.
    static func complainOfItem(isGuest: Bool) {
        // Relaxed: at worst two threads say it.
        let left = looksLeft.load(ordering: .relaxed)
        // Core Foundation is not for forked children.
        guard left > 0, rl_fork_count() == 0 else { return }
        let (item, remedy) =
            if idleTimer() != nil {
                ("a timer", "make a RunLoop.Timer instead of a Timer")
            } else if !isGuest, hasIdleSourceOrClosure() {
                ("a source, a port or a closure", "give it to the loop of RunLoops")
            } else {
                ("", "")
            }
        guard !item.isEmpty else { return looksLeft.store(left - 1, ordering: .relaxed) }
        looksLeft.store(0, ordering: .relaxed)
        SystemCalls.writeToStandardError(
            """
            RunLoops: Foundation's main loop has \(item), and the main thread runs the loop of RunLoops, which does not serve \
            it. If that is not on purpose, write `import class RunLoops.RunLoop` in each file that imports both modules, and \
            \(remedy).

            """)
    }

    /// A library has put something into Foundation's main loop that is not for this package's.
    package static func expectItems() { looksLeft.store(0, ordering: .relaxed) }

    /// For how many seconds a timer of its default mode has been due, negative before its date, while nobody runs the
    /// loop.
    private static func idleTimer() -> Double? {
        guard let (main, mode) = idleLoop(), let nextDate = symbol("CFRunLoopGetNextTimerFireDate"),
            let now = symbol("CFAbsoluteTimeGetCurrent")
        else { return nil }
        let date = unsafeBitCast(nextDate, to: NextDate.self)(main, mode)
        // No date is 0.
        return date == 0 ? nil : unsafeBitCast(now, to: Now.self)() - date
    }

    /// Foundation's main loop and its default mode; `nil` if somebody runs the loop, or there is none.
    private static func idleLoop() -> (main: OpaquePointer, mode: OpaquePointer)? {
        guard let getMain = symbol("CFRunLoopGetMain"), let copyMode = symbol("CFRunLoopCopyCurrentMode"),
            let release = symbol("CFRelease"),
            // SAFETY: a constant of Core Foundation's, a string.
            let mode = symbol("kCFRunLoopDefaultMode")?.load(as: OpaquePointer?.self),
            // SAFETY: here, above and below, functions of these types in every version of Core Foundation.
            let main = unsafeBitCast(getMain, to: GetMain.self)()
        else { return nil }
        if let current = unsafeBitCast(copyMode, to: CopyCurrentMode.self)(main) {
            unsafeBitCast(release, to: Release.self)(current)
            return nil
        }
        return (main, mode)
    }

    // MARK: Sources, ports and closures

    private static let hasIdleItem = Atomic<Bool>(false)

    /// Whether its default mode has something besides observers, while nobody runs the loop.
    ///
    /// Core Foundation tells the main thread nothing: there the mode always waits for the main queue too. So another
    /// thread asks.
    private static func hasIdleSourceOrClosure() -> Bool {
        guard symbol("_CFRunLoopFinished") != nil, idleLoop() != nil else { return false }
        var thread = rl_thread()
        let started = rl_inspect_start_thread(
            &thread, 512 << 10, "foundation-loop",
            { _ in
                FoundationLoop.hasIdleItem.store(FoundationLoop.isWaitedForInVain(), ordering: .relaxed)
                return nil
            }, nil)
        guard started >= 0 else { return false }
        rl_thread_join(thread)
        return hasIdleItem.load(ordering: .relaxed)
    }

    /// Not the main thread.
    private static func isWaitedForInVain() -> Bool {
        guard let isFinished = symbol("_CFRunLoopFinished") else { return false }
        for pause in [10_000, 0] as [UInt32] {
            // While its child is running, a Process has a source there that nobody has to serve. The source goes a moment
            // after the child.
            guard !hasChildren, let (main, mode) = idleLoop(),
                unsafeBitCast(isFinished, to: IsFinished.self)(main, mode) == 0
            else { return false }
            usleep(pause)
        }
        return true
    }

    private static var hasChildren: Bool {
        var info = siginfo_t()
        return waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) == 0 || errno != ECHILD
    }

    private static func symbol(_ name: String) -> UnsafeMutableRawPointer? { dlsym(nil, name) }
}
