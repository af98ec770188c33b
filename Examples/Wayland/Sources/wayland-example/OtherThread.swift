// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import CWayland
import Glibc
import Synchronization

/// A thread that talks to the compositor on the loop's connection, as the drivers of graphics cards do.
final class OtherThread: @unchecked Sendable {
    // SAFETY: libwayland locks its display.
    private let display: OpaquePointer
    // The thread that makes the object alone.
    private var thread = pthread_t()
    private let trips = Atomic(0)
    private let hasEnded = Atomic(false)

    init(_ display: Display) {
        self.display = display.pointer
        let body: @convention(c) (UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? = { me in
            // SAFETY: the reference that is passed below; taken once.
            Unmanaged<OtherThread>.fromOpaque(me.unsafelyUnwrapped).takeRetainedValue().talk()
            return nil
        }
        let result = pthread_create(&thread, nil, body, Unmanaged.passRetained(self).toOpaque())
        precondition(result == 0, "pthread_create: \(result)")
    }

    var isDone: Bool { hasEnded.load(ordering: .acquiring) }

    /// Waits for the end of the thread; returns how many answers it got.
    func join() -> Int {
        pthread_join(thread, nil)
        return trips.load(ordering: .relaxed)
    }

    private func talk() {
        let queue = wl_display_create_queue(display)
        for _ in 0..<200 where wl_display_roundtrip_queue(display, queue) >= 0 { trips.add(1, ordering: .relaxed) }
        wl_event_queue_destroy(queue)
        hasEnded.store(true, ordering: .releasing)
    }
}
