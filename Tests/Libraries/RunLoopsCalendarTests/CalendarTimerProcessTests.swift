// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import CRunLoopsKernel
import Foundation
import Glibc
import RunLoops
import RunLoopsCalendar
import RunLoopsTestSupport
import RunLoopsTesting
import Testing

import class RunLoops.RunLoop

/// What a calendar timer has of the system's: in processes of their own, where no other test opens a descriptor.
@Suite(.ownThread, .leavesNothing) struct CalendarTimerProcessTests {
    @Test func `Only a timer with the rule .again has a descriptor, which it closes when it is invalidated`() async {
        await #expect(processExitsWith: .success) {
            await letDispatchOpenItsTimers()
            try TestThread.run { () throws in
                let loop = RunLoop.current
                // The loop's own descriptors come with the first timers, and stay.
                for isFirst in [true, false] {
                    let before = countOpenDescriptors()
                    var schedule = CalendarSchedule.daily(at: try CalendarSchedule.Time(hour: 12), in: .gmt)
                    let plain = CalendarTimer(schedule) { _, _ in }
                    schedule.rules.clockSetBack = .again(ifBehindBy: .seconds(3600))
                    let watching = CalendarTimer(schedule) { _, _ in }
                    try loop.add(plain, in: .default)
                    loop.run(in: .default, for: .milliseconds(1))
                    let withPlain = countOpenDescriptors()
                    try loop.add(watching, in: .default)
                    loop.run(in: .default, for: .milliseconds(1))
                    let withBoth = countOpenDescriptors()
                    plain.invalidate()
                    watching.invalidate()
                    loop.run(in: .default, for: .milliseconds(1))
                    guard !isFirst else { continue }
                    precondition((withPlain, withBoth) == (before, before + 1))
                    precondition(countOpenDescriptors() == before)
                }
            }
        }
    }

    @Test func `The timer descriptor has the flags TFD_TIMER_ABSTIME and TFD_TIMER_CANCEL_ON_SET`() async {
        await #expect(processExitsWith: .success) {
            try TestThread.run { () throws in
                var schedule = CalendarSchedule.daily(at: try CalendarSchedule.Time(hour: 12), in: .gmt)
                schedule.rules.clockSetBack = .again(ifBehindBy: .zero)
                let timer = CalendarTimer(schedule) { _, _ in }
                try RunLoop.current.add(timer, in: .default)
                // TFD_TIMER_ABSTIME and TFD_TIMER_CANCEL_ON_SET.
                let about = try #require(wallClockTimers().first?.about)
                precondition(about.contains("settime flags: 03"), about)
            }
        }
    }

    @Test func `A ready timer descriptor wakes the loop once`() async {
        await #expect(processExitsWith: .success) {
            try TestThread.run { () throws in
                var schedule = CalendarSchedule.daily(at: try CalendarSchedule.Time(hour: 12), in: .gmt)
                schedule.rules.clockSetBack = .again(ifBehindBy: .zero)
                let timer = CalendarTimer(schedule) { _, _ in }
                let loop = RunLoop.current
                try loop.add(timer, in: .default)
                let number = try #require(wallClockTimers().first?.number)
                // Nobody may set the clock for a test: an expiration makes the descriptor ready as well.
                let result = rl_timerfd_set(number, 1, false)
                precondition(result == 0)
                let isReady = { () -> Bool in
                    var one = pollfd(fd: number, events: Int16(POLLIN), revents: 0)
                    return poll(&one, 1, 0) == 1
                }
                precondition(isReady())
                let handled = loop.run(in: .default, for: .seconds(300), returnsAfterSource: true)
                precondition(handled == .handledSource && !isReady())
            }
        }
    }

    @Test func `A ready timer descriptor makes the timer read the clock`() async {
        await #expect(processExitsWith: .success) {
            try TestThread.run { () throws in
                try ManualRunLoop.with { manual in
                    // 12:00 of a day, and a second.
                    let start = RunLoop.Instant(Date(timeIntervalSince1970: 20_000 * 86_400 + 12 * 3600 + 1))
                    manual.changeWallClock(by: manual.now(.realtime).duration(to: start))
                    var schedule = CalendarSchedule.daily(at: try CalendarSchedule.Time(hour: 12), in: .gmt)
                    schedule.rules.clockSetBack = .again(ifBehindBy: .seconds(3600))
                    var served = 0
                    let timer = CalendarTimer(schedule) { _, _ in served += 1 }
                    try manual.loop.add(timer, in: .default)
                    manual.changeWallClock(by: .seconds(-7200))
                    // The loop looks at those that it watches: the timer's alone.
                    for number in 0..<CInt(64) { manual.setReady(number, .readable) }
                    manual.advance(by: .zero)
                    for number in 0..<CInt(64) { manual.setReady(number, []) }
                    manual.advance(by: .seconds(7200))
                    precondition(served == 1, "\(served)")
                }
            }
        }
    }

    @Test func `If no descriptor is free, adding a timer throws and leaves the mode unchanged`() async {
        await #expect(processExitsWith: .success) {
            try TestThread.run { () throws in
                let loop = RunLoop.current
                var schedule = CalendarSchedule.daily(at: try CalendarSchedule.Time(hour: 12), in: .gmt)
                schedule.rules.clockSetBack = .again(ifBehindBy: .zero)
                let timer = CalendarTimer(schedule) { _, _ in }
                let scarcity = Scarcity(left: 0)
                do {
                    try loop.add(timer, in: .default)
                    preconditionFailure("there was a descriptor")
                } catch let error as RunLoop.SystemCallError {
                    precondition(error == RunLoop.SystemCallError(call: "timerfd_create", code: EMFILE), "\(error)")
                }
                precondition(!loop.contains(timer, in: .default) && timer.isValid)
                precondition(loop.run(in: .default, for: .seconds(300)) == .finished)
                scarcity.end()
                let isAdded = try loop.add(timer, in: .default)
                precondition(isAdded)
            }
        }
    }
}

/// The descriptors of timers by `CLOCK_REALTIME` that the process has open, with what the kernel says about each.
private func wallClockTimers() -> [(number: CInt, about: String)] {
    (0..<CInt(256)).compactMap { number in
        guard let about = try? String(contentsOfFile: "/proc/self/fdinfo/\(number)", encoding: .utf8),
            about.contains("clockid: 0")
        else { return nil }
        return (number, about)
    }
}
