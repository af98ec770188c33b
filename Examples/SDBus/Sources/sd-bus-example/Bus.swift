// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import CSystemd
import Glibc
import RunLoops
import RunLoopsEvents

/// A connection to a message bus in the current thread's loop.
final class Bus {
    let pointer: OpaquePointer
    private var source: PollSource?

    /// - Parameter ofSystem: Whether it is the system's bus, and not the session's.
    init(ofSystem: Bool = false) throws {
        var opened: OpaquePointer?
        try Failure.check(ofSystem ? sd_bus_open_system(&opened) : sd_bus_open_user(&opened))
        let bus = opened.unsafelyUnwrapped
        pointer = bus
        source = try PollSource(label: "sd-bus") { wait in
            let events = Int16(truncatingIfNeeded: sd_bus_get_events(bus))
            wait.descriptors = [pollfd(fd: sd_bus_get_fd(bus), events: events, revents: 0)]
            // An instant of CLOCK_MONOTONIC in microseconds, at which the first call is late; 0 if there are messages
            // that the library has read already, and the descriptor does not show.
            var until: UInt64 = 0
            guard sd_bus_get_timeout(bus, &until) >= 0, until != .max else { return }
            wait.limit = RunLoop.Instant.now.duration(to: RunLoop.Instant(nanoseconds: Int64(until) * 1000))
        } dispatch: { _ in
            // One message a call.
            while sd_bus_process(bus, nil) > 0 {}
        }
    }

    deinit {
        source?.invalidate()
        sd_bus_flush_close_unref(pointer)
    }
}

/// What sd-bus refused.
struct Failure: Error, CustomStringConvertible {
    let code: CInt
    var description: String { String(cString: strerror(code)) }

    static func check(_ result: CInt) throws(Failure) {
        if result < 0 { throw Failure(code: -result) }
    }
}
