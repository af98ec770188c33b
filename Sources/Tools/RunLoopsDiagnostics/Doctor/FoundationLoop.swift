// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

internal import RunLoopsLibC

/// Access to Foundation's main loop through Core Foundation's functions, looked up while the program runs.
///
/// This library does not link Core Foundation: in a program without Foundation the functions are not found, and the
/// loop is never accessed.
enum FoundationLoop {
    private typealias GetMain = @convention(c) () -> OpaquePointer?
    private typealias CopyCurrentMode = @convention(c) (OpaquePointer) -> OpaquePointer?
    private typealias Release = @convention(c) (OpaquePointer) -> Void
    private typealias NextDate = @convention(c) (OpaquePointer, OpaquePointer) -> Double
    private typealias Now = @convention(c) () -> Double

    /// Returns how long a timer of the loop's default mode has been overdue, in nanoseconds; `nil` if no timer is
    /// overdue, or if a thread runs the loop.
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
