// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

// libusb in a run loop: its devices, an event, and what the loop waits for before and after a device is opened.

import CUSB
import RunLoops
import RunLoopsEvents

@main struct USBExample {
    static func main() throws {
        let before = try Rest.countDescriptors()
        do { try show() } catch let failure as Failure { print("no USB on this machine: \(failure)") }
        print("descriptors left open: \(try Rest.countDescriptors() - before)")
    }

    private static func show() throws {
        let (devices, loop) = (try Devices(), RunLoop.current)
        var list: UnsafeMutablePointer<OpaquePointer?>?
        let count = libusb_get_device_list(devices.context, &list)
        defer { libusb_free_device_list(list, 1) }
        print("devices: \(count)")

        devices.whenDispatched = { loop.stop() }
        let timer = RunLoop.Timer(.after(.milliseconds(50))) { _ in libusb_interrupt_event_handler(devices.context) }
        loop.add(timer, in: .default)
        print("run until an event: \(loop.run(in: .default, for: .seconds(600)))")
        devices.whenDispatched = {}
        if count > 0, let device = list?[0] {
            let opening = Opening(device, devices)
            print("run while another thread opens a device: \(loop.run(in: .default, for: .seconds(600)))")
            try opening.join()
            devices.whenAsked = { _ in }
        }
        print("wake-ups in a quiet second: \(Rest.countWakes())")
    }
}
