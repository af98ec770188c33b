// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import CRunLoopsKernel
import Glibc
import RunLoops
import RunLoopsKit
import RunLoopsTestSupport
import Testing

/// Frames on the real clock, beside a bare timer descriptor that does the same work.
@Suite(.ownThread) struct DisplayLinkRealTests {
    @Test(arguments: [60.0, 144])
    func `On the real clock delivered and skipped frames add up to the due frames, without drift`(
        rate: Double
    ) {
        let length = isFull ? Duration.seconds(20) : .milliseconds(300)
        let bare = makeThread("bare timerfd")
        let drawing = makeThread("display link")
        let (bareCost, done) = (Locked<Int64>(0), Permit())
        bare.post {
            let cost = bareLoop(rate: rate, for: length)
            bareCost.withLock { $0 = cost }
            done.signal()
        }
        guard let result = try? drawing.performAndWait({ draw(rate: rate, for: length) }) else {
            Issue.record("the thread has ended")
            return
        }
        done.wait()
        guard let first = result.frames.first, let last = result.frames.last else { return }
        let span = first.time.duration(to: last.time) / .seconds(1)
        let due = Int((span * rate).rounded()) + 1
        #expect(result.delivered + result.skipped - first.skipped == due)
        #expect(result.frames.count == result.delivered)
        // Where the last frame lies, against where the first one says that it should.
        #expect(abs(span - Double(due - 1) / rate) < 0.001)
        // No call comes before its frame.
        #expect(result.lateness.allSatisfy { $0 >= 0 })
        guard isFull else { return }
        print(
            "FIG \(rate) frames/s for \(length): due \(due), delivered \(result.delivered), skipped \(result.skipped);",
            "median lateness of the first and last 100 frames \(median(result.lateness.prefix(100))) us and",
            "\(median(result.lateness.suffix(100))) us; CPU \(result.cost / 1000) us, bare timerfd",
            "\(bareCost.withLock { $0 } / 1000) us")
    }
}

private struct Drawing {
    var frames: [RunLoop.DisplayLink.Frame] = []
    var lateness: [Int64] = []
    var delivered = 0
    var skipped = 0
    var cost: Int64 = 0
}

/// On the calling thread's loop.
private func draw(rate: Double, for length: Duration) -> Drawing {
    let drawing = Box(Drawing())
    let begin = threadTime()
    let link = RunLoop.DisplayLink(framesPerSecond: rate) { frame in
        drawing.value.frames.append(frame)
        drawing.value.lateness.append(SystemCalls.now(.monotonic) - frame.time.nanoseconds)
    }
    RunLoop.current.run(in: .default, for: length)
    drawing.value.cost = threadTime() - begin
    (drawing.value.delivered, drawing.value.skipped) = (link.delivered, link.skipped)
    return drawing.value
}

/// What one would write by hand: a periodic timer descriptor, read in a loop.
private func bareLoop(rate: Double, for length: Duration) -> Int64 {
    let begin = threadTime()
    let descriptor = rl_timerfd_create(rl_clock_monotonic())
    defer { close(descriptor) }
    // Blocking, as the simplest loop is.
    _ = fcntl(descriptor, F_SETFL, 0)
    let start = SystemCalls.now(.monotonic)
    let end = start + length.clampedNanoseconds
    var (frame, lateness, expirations) = (1, [Int64](), UInt64(0))
    while SystemCalls.now(.monotonic) < end {
        let due = start + Int64(Double(frame) * 1e9 / rate)
        rl_timerfd_set(descriptor, due, false)
        _ = read(descriptor, &expirations, 8)
        lateness.append(SystemCalls.now(.monotonic) - due)
        frame += 1
    }
    return threadTime() - begin
}

private func threadTime() -> Int64 { rl_clock_now(CLOCK_THREAD_CPUTIME_ID) }

private func median(_ lateness: ArraySlice<Int64>) -> Int64 { lateness.sorted()[lateness.count / 2] / 1000 }
