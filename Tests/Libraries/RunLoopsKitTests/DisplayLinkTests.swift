// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import RunLoops
import RunLoopsTestSupport
import RunLoopsTesting
import Testing

@testable import RunLoopsKit

/// Frames on a grid.
@Suite(.ownThread) struct DisplayLinkTests {
    @Test(arguments: [60.0, 144, 59.94, 1, 0.5])
    func `A display link delivers evenly spaced frames at its rate`(
        rate: Double
    ) {
        ManualRunLoop.with { manual in
            let frames = Box<[RunLoop.DisplayLink.Frame]>([])
            let link = RunLoop.DisplayLink(framesPerSecond: rate) { frame in
                #expect(frame.time == manual.now)
                frames.value.append(frame)
            }
            let seconds = 600
            manual.advance(by: .seconds(seconds))
            let due = Int((rate * Double(seconds)).rounded())
            #expect(abs(frames.value.count - due) <= 1)
            #expect(link.delivered == frames.value.count)
            #expect(link.skipped == 0)
            #expect(frames.value.map(\.number) == Array(0..<frames.value.count))
            for (frame, following) in zip(frames.value, frames.value.dropFirst()) where frame.next != following.time {
                Issue.record("\(frame) is followed by \(following)")
            }
            if let first = frames.value.first, let last = frames.value.last {
                let exact = Double(frames.value.count - 1) / rate
                #expect(abs(exact - first.time.duration(to: last.time) / .seconds(1)) < 1e-8)
            }
        }
    }

    @Test func `Frames whose time has passed are skipped and counted`() {
        ManualRunLoop.with { manual in
            let frames = Box<[RunLoop.DisplayLink.Frame]>([])
            let link = RunLoop.DisplayLink(framesPerSecond: 10) { frame in
                frames.value.append(frame)
                if frame.number == 1 { manual.pass(.milliseconds(250)) }
            }
            manual.advance(by: .seconds(1))
            #expect(frames.value.map(\.number) == [0, 1, 4, 5, 6, 7, 8, 9])
            #expect(frames.value.map(\.skipped) == [0, 0, 2, 0, 0, 0, 0, 0])
            #expect(link.delivered + link.skipped == 10)
        }
    }

    @Test func `Display links are in phase if one rate is a multiple of the other, whenever they are created`() {
        ManualRunLoop.with { manual in
            let (slow, fast) = (Box<[RunLoop.Instant]>([]), Box<[RunLoop.Instant]>([]))
            let first = RunLoop.DisplayLink(framesPerSecond: 30) { slow.value.append($0.time) }
            manual.advance(by: .milliseconds(137))
            let second = RunLoop.DisplayLink(framesPerSecond: 60) { fast.value.append($0.time) }
            manual.advance(by: .seconds(10))
            #expect(Set(slow.value.dropFirst(5)).isSubset(of: Set(fast.value)))
            #expect(manual.sleeps < 620)
            withExtendedLifetime((first, second)) {}
        }
    }

    @Test func `A paused link does not wake the loop, and a resumed link counts no missed frames`() {
        ManualRunLoop.with { manual in
            keepAlive(manual.loop)
            let link = RunLoop.DisplayLink(framesPerSecond: 60, isPaused: true) { _ in }
            #expect(idleWakeUps(manual) == 0)
            link.isPaused = false
            manual.advance(by: .seconds(1))
            #expect(link.delivered == 60)
            link.isPaused = true
            #expect(idleWakeUps(manual) == 0)
            #expect(manual.loop.nextTimerDeadline(in: .default) == nil)
            link.isPaused = false
            manual.advance(by: .seconds(1))
            #expect(link.delivered == 120)
            #expect(link.skipped == 0)
        }
    }

    @Test func `A link may be paused and its rate changed in its callout`() {
        ManualRunLoop.with { manual in
            keepAlive(manual.loop)
            let box = Box<RunLoop.DisplayLink?>(nil)
            let link = RunLoop.DisplayLink(framesPerSecond: 10) { frame in
                if frame.number == 9 { box.value?.framesPerSecond = 20 }
                if frame.number == 29 { box.value?.isPaused = true }
            }
            box.value = link
            manual.advance(by: .seconds(1))
            #expect(link.delivered == 10)
            manual.advance(by: .seconds(1))
            #expect(link.delivered == 30)
            #expect(idleWakeUps(manual) == 0)
            #expect(link.skipped == 0)
            box.value = nil
        }
    }

    @Test func `A link draws only in its modes and stops when it is released`() {
        ManualRunLoop.with { manual in
            keepAlive(manual.loop)
            keepAlive(manual.loop, in: .tracking)
            var link: RunLoop.DisplayLink? = RunLoop.DisplayLink(framesPerSecond: 60, in: [.tracking]) { _ in }
            manual.advance(by: .seconds(1))
            #expect(link?.delivered == 0)
            manual.advance(by: .seconds(1), in: .tracking)
            #expect(link?.delivered ?? 0 >= 60)
            #expect((link?.delivered ?? 0) + (link?.skipped ?? 0) == 120)
            link = nil
            #expect(manual.loop.nextTimerDeadline(in: .tracking) == nil)
        }
    }

    @Test func `The frame grid is exact at any distance from its start`() {
        for rate in [23.976, 60, 90, 144, 1000] {
            let grid = FrameGrid(framesPerSecond: rate)
            for base: Int64 in [0, 1_000_000_000, 86_400 * 1_000_000_000, .max / 2] {
                let index = grid.index(at: base)
                for next in index + 1...index + 100 {
                    let start = grid.start(of: next)
                    #expect(grid.index(at: start) == next)
                    #expect(grid.index(at: start - 1) == next - 1)
                }
            }
        }
    }
}
