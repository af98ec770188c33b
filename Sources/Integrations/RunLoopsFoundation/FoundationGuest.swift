// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

internal import LinuxLibC
public import RunLoops

/// Foundation's main loop inside this package's main loop.
///
/// A program that depends on this module need not call anything: `Foundation.Timer`, `Foundation.RunLoop.main.perform`, ports,
/// `Process`, `FileHandle`, streams and `NotificationQueue` are served wherever `RunLoop.main` of this package is run, in the
/// modes that are common ones there.
///
/// The loop sleeps on the descriptor that Foundation's loop would sleep on, and wakes for nothing else. Where that descriptor
/// cannot be found, the loop wakes for Foundation's timers alone: ``limitation`` says so.
///
/// Thread safety: the main thread.
@MainActor
public enum FoundationGuest {
    /// What is not served, in one line that also goes to standard error, once; `nil` if all is, or the main loop has not been
    /// run yet.
    ///
    /// Foundation's timers, and closures and sources of the main thread's own callouts, are served in any case. With a
    /// limitation, what another thread adds to Foundation's main loop while the thread sleeps waits for the end of the sleep.
    public static var limitation: String? { FoundationServer.limitation }

    /// Also serves the mode of Foundation's main loop that has the same name, in a mode that is not a common one.
    ///
    /// Common modes need no call.
    public static func serve(in mode: RunLoop.Mode) { FoundationServer.serve(RunLoop.main, in: mode) }

    // MARK: For tests

    /// What proc(5) says about a descriptor of this process; tests have it say something else.
    package static var readInformation: @MainActor (CInt) -> String? = { descriptor in
        let file = open("/proc/self/fdinfo/\(descriptor)", O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { return nil }
        defer { close(file) }
        var text: [UInt8] = []
        var part = [UInt8](repeating: 0, count: 4096)
        while case let count = read(file, &part, part.count), count > 0 { text += part[..<count] }
        return String(decoding: text, as: UTF8.self)
    }

    /// The number of turns of Foundation's loop that this module has made.
    package static var turnCount: Int { FoundationServer.turnCount }
}
