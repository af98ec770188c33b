// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import CWayland
import Glibc
import RunLoops
import RunLoopsEvents

/// A Wayland display in the current thread's loop.
final class Display {
    let pointer: OpaquePointer
    private var source: PollSource?

    init?() throws {
        guard let display = wl_display_connect(nil) else { return nil }
        pointer = display
        var isReading = false
        source = try PollSource(label: "Wayland") { wait in
            // Refused while events are queued: then they are dispatched first.
            isReading = wl_display_prepare_read(display) == 0
            let isFull = wl_display_flush(display) < 0 && errno == EAGAIN
            let events = isFull ? POLLIN | POLLOUT : POLLIN
            wait.descriptors = [pollfd(fd: wl_display_get_fd(display), events: Int16(events), revents: 0)]
            wait.limit = isReading ? nil : .zero
        } check: { descriptors in
            guard isReading else { return true }
            // The right to read ends with the sleep. While this thread has it, whoever waits for an answer waits for
            // this thread; and a round trip in a callout of this loop would wait for ever.
            isReading = false
            guard descriptors[0].revents != 0 else {
                wl_display_cancel_read(display)
                return false
            }
            wl_display_read_events(display)
            return true
        } dispatch: { _ in
            guard wl_display_dispatch_pending(display) < 0 else { return }
            fatalError("The connection to the compositor is broken: \(wl_display_get_error(display))")
        }
    }

    deinit {
        source?.invalidate()
        wl_display_disconnect(pointer)
    }
}
