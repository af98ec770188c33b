// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

#if GLib
internal import CGLib
internal import RunLoops

/// The descriptors that a context asks for, in an epoll of their own.
///
/// A context names all of them each time; the kernel receives only the differences. A number can be closed and given
/// to another file between two looks, and the context does not say so. Each number is therefore confirmed, and a number
/// that epoll has forgotten is added again (Documentation/Decisions/0016-glib-as-a-source.md).
struct PolledDescriptors: ~Copyable {
    /// Readable while any of them is ready.
    let epoll: CInt
    private var events: [CInt: UInt32] = [:]
    /// The descriptors that epoll refuses because they are always ready, as regular files are.
    private var alwaysReady: [CInt: UInt32] = [:]
    private var buffer: [epoll_event] = []
    /// How many additions, changes and removals the kernel has received since the beginning.
    private(set) var changes = 0

    init() throws(RunLoop.SystemCallError) {
        epoll = rlg_epoll_create()
        if epoll < 0 { throw RunLoop.SystemCallError(call: "epoll_create1", code: -epoll) }
    }

    deinit { close(epoll) }

    var hasAlwaysReady: Bool { !alwaysReady.isEmpty }

    /// Makes the epoll wait for what `wanted` says, and for nothing else.
    mutating func update(_ wanted: ArraySlice<GPollFD>) {
        var gone = events
        alwaysReady.removeAll(keepingCapacity: true)
        for entry in wanted where entry.fd >= 0 {
            let bits = UInt32(entry.events)
            let known = gone.removeValue(forKey: entry.fd)
            if known == nil || !confirm(entry.fd, bits, isChange: known != bits) { add(entry.fd, bits) }
        }
        for descriptor in gone.keys {
            // EBADF, ENOENT: the descriptor was closed, and has left the epoll by itself.
            _ = rlg_epoll_remove(epoll, descriptor)
            events[descriptor] = nil
            changes += 1
        }
    }

    /// False if epoll no longer knows the descriptor.
    private mutating func confirm(_ descriptor: CInt, _ bits: UInt32, isChange: Bool) -> Bool {
        guard rlg_epoll_modify(epoll, descriptor, bits) == 0 else { return false }
        events[descriptor] = bits
        if isChange { changes += 1 }
        return true
    }

    private mutating func add(_ descriptor: CInt, _ bits: UInt32) {
        let result = rlg_epoll_add(epoll, descriptor, bits)
        changes += 1
        if result == 0 {
            events[descriptor] = bits
            return
        }
        events[descriptor] = nil
        // EPERM: a file that is always ready. EBADF: closed; the context receives what poll(2) would report
        // (POLLNVAL). ENOMEM, ENOSPC: epoll cannot wait for it; the context is asked again and again rather than never.
        alwaysReady[descriptor] = result == -EBADF ? UInt32(G_IO_NVAL.rawValue) : bits
    }

    /// Notes in `polled` what each is ready for now.
    mutating func look(_ polled: inout ArraySlice<GPollFD>) {
        for index in polled.indices {
            polled[index].revents = gushort(truncatingIfNeeded: alwaysReady[polled[index].fd] ?? 0)
        }
        if events.isEmpty { return }
        if buffer.count < events.count { buffer = Array(repeating: epoll_event(), count: events.count) }
        let count = rlg_epoll_look(epoll, &buffer, CInt(buffer.count))
        // Negative: EINTR; the next look finds it.
        guard count > 0 else { return }
        var ready: [CInt: UInt32] = [:]
        for event in buffer[0..<Int(count)] {
            withUnsafePointer(to: event) { ready[rlg_event_descriptor($0)] = event.events }
        }
        for index in polled.indices {
            if let bits = ready[polled[index].fd] { polled[index].revents = gushort(truncatingIfNeeded: bits) }
        }
    }
}
#endif
