// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import CUSB
import Glibc
import RunLoops
import Synchronization

/// A thread that opens a device while the loop sleeps, and closes the device when the loop waits for its descriptor.
final class Opening: @unchecked Sendable {
    // SAFETY: libusb locks its context, and the device is kept until the end of the thread.
    private let device: OpaquePointer
    private let loop = RunLoop.current
    private var thread = pthread_t()
    private let more = Atomic(0)
    private let before: Int
    private let failure = Atomic<CInt>(0)

    init(_ device: OpaquePointer, _ devices: Devices) {
        self.device = device
        before = devices.descriptors.count
        devices.whenAsked = { [self] count in more.store(count - before, ordering: .releasing) }
        let body: @convention(c) (UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? = { me in
            // SAFETY: the reference that is passed below; taken once.
            Unmanaged<Opening>.fromOpaque(me.unsafelyUnwrapped).takeRetainedValue().open()
            return nil
        }
        let result = pthread_create(&thread, nil, body, Unmanaged.passRetained(self).toOpaque())
        precondition(result == 0, "pthread_create: \(result)")
    }

    /// Waits for the end of the thread, which stops the loop.
    func join() throws(Failure) {
        pthread_join(thread, nil)
        let code = failure.load(ordering: .relaxed)
        if code != 0 { throw Failure(code: code) }
    }

    private func open() {
        while !loop.isWaiting { usleep(1000) }
        var handle: OpaquePointer?
        let result = libusb_open(device, &handle)
        failure.store(result, ordering: .relaxed)
        if result == 0 {
            // Nothing wakes the loop but libusb.
            while more.load(ordering: .acquiring) != 1 { usleep(1000) }
            libusb_close(handle)
            while more.load(ordering: .acquiring) != 0 { usleep(1000) }
        }
        loop.perform { RunLoop.current.stop() }
    }
}
