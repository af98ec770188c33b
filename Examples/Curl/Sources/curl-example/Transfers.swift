// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import CCurl
import Glibc
import RunLoops
import RunLoopsEvents

/// curl's transfers in the current thread's loop.
final class Transfers {
    let multi = curl_multi_init()
    private var sockets: [CInt: CInt] = [:]
    private var source: PollSource?
    var transfers: [UnsafeMutableRawPointer: Transfer] = [:]

    init() throws {
        let note: curl_socket_callback = { _, socket, events, me, _ in
            // SAFETY: the object that is passed below, which cleans up before it goes.
            Unmanaged<Transfers>.fromOpaque(me.unsafelyUnwrapped).takeUnretainedValue()
                .sockets[socket] = events == CURL_POLL_REMOVE ? nil : events
            return 0
        }
        ex_watch_sockets(multi, note, Unmanaged.passUnretained(self).toOpaque())
        source = try PollSource(label: "curl") { [unowned self] wait in
            wait.descriptors = sockets.map { socket, events in
                let bits = (events & CURL_POLL_IN != 0 ? POLLIN : 0) | (events & CURL_POLL_OUT != 0 ? POLLOUT : 0)
                return pollfd(fd: socket, events: Int16(bits), revents: 0)
            }
            var milliseconds = 0
            curl_multi_timeout(multi, &milliseconds)
            wait.limit = milliseconds < 0 ? nil : .milliseconds(milliseconds)
        } dispatch: { [unowned self] descriptors in
            var running: CInt = 0
            for polled in descriptors where polled.revents != 0 {
                // Without a hint curl looks for itself what the socket is ready for.
                curl_multi_socket_action(multi, polled.fd, 0, &running)
            }
            curl_multi_socket_action(multi, CURL_SOCKET_TIMEOUT, 0, &running)
            endTransfers()
        }
    }

    deinit {
        source?.invalidate()
        for transfer in transfers.keys { remove(transfer) }
        curl_multi_cleanup(multi)
    }
}
