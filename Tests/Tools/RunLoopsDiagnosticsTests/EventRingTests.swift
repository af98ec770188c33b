// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import RunLoops
import RunLoopsTestSupport
import Testing

@testable import RunLoopsDiagnostics

@Suite("A ring of events", .ownThread)
struct EventRingTests {
    @Test func `events are read in the order in which they were written`() {
        let ring = EventRing(capacity: 8)
        for time in 0..<5 { ring.write(RawEvent(time: Int64(time), line: UInt64(time))) }
        let (events, lost) = ring.read()
        #expect(events.map(\.time) == [0, 1, 2, 3, 4])
        #expect(lost == 0)
    }

    @Test func `the oldest events are overwritten and counted`() {
        let ring = EventRing(capacity: 8)
        for time in 0..<21 { ring.write(RawEvent(time: Int64(time))) }
        let (events, lost) = ring.read()
        #expect(events.map(\.time) == Array(13..<21))
        #expect(lost == 13)
    }

    @Test func `an empty ring has no events`() {
        let (events, lost) = EventRing(capacity: 4).read()
        #expect(events.isEmpty)
        #expect(lost == 0)
    }

    @Test func `a reader of a ring gets whole events in sequence while the ring is written`() {
        let ring = EventRing(capacity: 64)
        let writer = TestThread {
            for number in 0..<200_000 as Range<Int64> {
                ring.write(
                    RawEvent(
                        time: number, head: UInt64(number), label: UInt64(number), line: UInt64(number), first: number,
                        second: number, third: number))
            }
        }
        var torn = 0
        var gaps = 0
        while ring.count < 200_000 {
            let (events, lost) = ring.read()
            torn += events.count { event in
                event.first != event.time || event.second != event.time || event.third != event.time
                    || event.head != UInt64(event.time) || event.label != UInt64(event.time)
                    || event.line != UInt64(event.time)
            }
            if let first = events.first, UInt64(first.time) != lost { gaps += 1 }
            gaps += zip(events, events.dropFirst()).count { $0.time + 1 != $1.time }
        }
        writer.join()
        #expect(torn == 0)
        #expect(gaps == 0)
        #expect(ring.read().events.map(\.time) == Array(199_936..<200_000))
    }
}
