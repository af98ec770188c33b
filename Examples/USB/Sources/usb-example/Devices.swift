// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import CUSB
import Glibc
import RunLoops
import RunLoopsEvents

/// libusb in the current thread's loop.
final class Devices {
    let context: OpaquePointer
    private var source: PollSource?
    /// Called with the number of descriptors that the loop is about to wait for.
    var whenAsked: (Int) -> Void = { _ in }
    /// Called after libusb has worked.
    var whenDispatched: () -> Void = {}

    init() throws {
        var made: OpaquePointer?
        let result = libusb_init(&made)
        guard result == 0, let context = made else { throw Failure(code: result) }
        self.context = context
        source = try PollSource(label: "libusb") { [unowned self] wait in
            // Asked for each time, so that the notifiers of libusb_set_pollfd_notifiers are not needed. When another thread
            // opens a device, libusb makes a descriptor of its own ready, and is asked again.
            wait.descriptors = descriptors
            whenAsked(wait.descriptors.count)
            var time = timeval()
            guard libusb_get_next_timeout(context, &time) == 1 else { return }
            wait.limit = .seconds(time.tv_sec) + .microseconds(time.tv_usec)
        } dispatch: { [unowned self] _ in
            var none = timeval()
            libusb_handle_events_timeout_completed(context, &none, nil)
            whenDispatched()
        }
    }

    deinit {
        source?.invalidate()
        libusb_exit(context)
    }

    /// What libusb waits for.
    var descriptors: [pollfd] {
        guard let list = libusb_get_pollfds(context) else { return [] }
        defer { libusb_free_pollfds(list) }
        var all: [pollfd] = []
        while let entry = list[all.count] {
            all.append(pollfd(fd: entry.pointee.fd, events: entry.pointee.events, revents: 0))
        }
        return all
    }
}

/// What libusb refused.
struct Failure: Error, CustomStringConvertible {
    let code: CInt
    var description: String { String(cString: libusb_error_name(code)) }
}
