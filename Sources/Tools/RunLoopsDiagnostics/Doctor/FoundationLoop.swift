// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

internal import LinuxLibC

/// Foundation's main loop, seen through Core Foundation's functions, where the process has them.
///
/// Nothing is linked: a program without Foundation has none of the symbols, and gets none.
enum FoundationLoop {
    private typealias GetMain = @convention(c) () -> OpaquePointer?
    private typealias CopyCurrentMode = @convention(c) (OpaquePointer) -> OpaquePointer?
    private typealias Release = @convention(c) (OpaquePointer) -> Void
    private typealias NextDate = @convention(c) (OpaquePointer, OpaquePointer) -> Double
    private typealias Now = @convention(c) () -> Double

    /// For how many nanoseconds a timer of its default mode has been due while no thread runs the loop; `nil` if none is
    /// due, or a thread runs the loop.
    ///
    /// Thread safety: any thread.
    static func timerOverdue() -> Int64? {
        guard let getMain = symbol("CFRunLoopGetMain"), let copyMode = symbol("CFRunLoopCopyCurrentMode"),
            let release = symbol("CFRelease"), let nextDate = symbol("CFRunLoopGetNextTimerFireDate"),
            let now = symbol("CFAbsoluteTimeGetCurrent"),
            // SAFETY: a constant of Core Foundation's, a string.
            let mode = symbol("kCFRunLoopDefaultMode")?.load(as: OpaquePointer?.self),
            // SAFETY: here, above and below, functions of these types in every version of Core Foundation.
            let main = unsafeBitCast(getMain, to: GetMain.self)()
        else { return nil }
        if let current = unsafeBitCast(copyMode, to: CopyCurrentMode.self)(main) {
            unsafeBitCast(release, to: Release.self)(current)
            return nil
        }
        let date = unsafeBitCast(nextDate, to: NextDate.self)(main, mode)
        let overdue = unsafeBitCast(now, to: Now.self)() - date
        // No date is 0. A century is more than a program waits.
        return date == 0 || overdue <= 0 ? nil : Int64(min(overdue, 3e9) * 1e9)
    }

    private static func symbol(_ name: String) -> UnsafeMutableRawPointer? { dlsym(nil, name) }
}
