// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

// The machine is about to sleep, and has woken up, as logind tells by its signal.

import CSystemd
import Glibc
import RunLoops

/// How long the machine has slept since it was started.
func timeAsleep() -> Duration {
    func read(_ clock: clockid_t) -> Duration {
        var time = timespec()
        clock_gettime(clock, &time)
        return .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec)
    }
    return read(CLOCK_BOOTTIME) - read(CLOCK_MONOTONIC)
}

let bus = try Bus(ofSystem: true)
var before = timeAsleep()
let sleep = Kept { message in
    var isComing: CInt = 0
    sd_bus_message_read_basic(message, CChar(UInt8(ascii: "b")), &isComing)
    if isComing != 0 {
        before = timeAsleep()
        print("the machine is about to sleep")
    } else {
        print("the machine has slept for \(Int((timeAsleep() - before) / .seconds(1))) s")
    }
}
try bus.match("org.freedesktop.login1.Manager", "PrepareForSleep", sleep)
print("listening")
RunLoop.main.run()
