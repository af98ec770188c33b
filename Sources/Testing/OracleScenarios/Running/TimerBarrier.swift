// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// Waits until the kernel has delivered every timer of this processor that is due.
///
/// A timer descriptor that is armed for a past date is not readable at once: an interrupt has to occur first, which
/// takes microseconds, or hundreds of microseconds on a busy virtual machine. A loop that polls in between sees no
/// timer, so that two runs of the same scenario differ. The barrier arms a timer descriptor of its own afterwards,
/// which the kernel delivers after all earlier ones.
final class TimerBarrier: Sendable {
    private let descriptor: CInt

    private typealias Create = @convention(c) (CInt, CInt) -> CInt
    private typealias SetTime =
        @convention(c) (
            CInt, CInt, UnsafePointer<itimerspec>?, UnsafeMutablePointer<itimerspec>?
        ) -> CInt

    /// The functions of `<sys/timerfd.h>`, looked up by name because Swift's Glibc module leaves this header out.
    private static let functions: (create: Create, setTime: SetTime) = {
        guard let create = dlsym(nil, "timerfd_create"), let setTime = dlsym(nil, "timerfd_settime") else {
            preconditionFailure("the C library has no timer descriptors")
        }
        // SAFETY: the types are those of timerfd_create(2).
        return (unsafeBitCast(create, to: Create.self), unsafeBitCast(setTime, to: SetTime.self))
    }()

    init() {
        // TFD_NONBLOCK and TFD_CLOEXEC are these two by definition.
        descriptor = Self.functions.create(CLOCK_MONOTONIC, O_NONBLOCK | O_CLOEXEC)
        precondition(descriptor >= 0, "no timer descriptor: errno \(errno)")
    }

    deinit {
        close(descriptor)
    }

    /// Returns when timers that were due at the call are readable.
    func wait() {
        // Not a moment of the past but the next one: a date that is already over may overtake the others in the queue.
        let date = monotonicNanoseconds() + 2_000
        var setting = itimerspec()
        setting.it_value.tv_sec = Int(date / 1_000_000_000)
        setting.it_value.tv_nsec = Int(date % 1_000_000_000)
        // TFD_TIMER_ABSTIME is 1.
        guard Self.functions.setTime(descriptor, 1, &setting, nil) == 0 else { return spin(20_000) }
        var count: UInt64 = 0
        while read(descriptor, &count, 8) != 8 {}
    }
}
