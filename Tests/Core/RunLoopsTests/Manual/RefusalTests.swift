// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import Glibc
import RunLoops
import RunLoopsTestSupport
import RunLoopsTesting
import Testing

/// What the system refuses and interrupts, under the manual kernel.
@Suite(.ownThread) struct RefusalTests {
    @Test func `add throws a SystemCallError if a descriptor is refused, and the source is in no mode`() throws {
        try ManualRunLoop.with { manual in
            let source = RunLoop.DescriptorSource(8) { _, _ in }
            manual.failNext("epoll_ctl", with: ENOSPC)
            #expect(throws: RunLoop.SystemCallError(call: "epoll_ctl", code: ENOSPC)) {
                try manual.loop.add(source, in: .default)
            }
            #expect(!manual.loop.contains(source, in: .default))
            #expect(manual.loop.runTurn() == .finished)
            #expect(source.isValid)
            // And it can be added when the system has recovered.
            try manual.loop.add(source, in: .default)
            #expect(manual.loop.contains(source, in: .default))
        }
    }

    @Test func `A source that cannot be added to one common mode is added to none`() throws {
        try ManualRunLoop.with { manual in
            let loop = manual.loop
            try loop.addCommonMode("second")
            let witness = Witness()
            do {
                let token = witness.makeToken()
                let first = RunLoop.DescriptorSource(8) { _, _ in }
                let second = RunLoop.DescriptorSource(8) { _, _ in withExtendedLifetime(token) {} }
                // On one descriptor: the second has to join the first in one mode.
                try loop.add(first, in: .default)
                manual.failNext("epoll_ctl", with: ENOMEM)
                #expect(throws: RunLoop.SystemCallError.self) { try loop.add(second, in: .common) }
                for mode: RunLoop.Mode in [.default, "second", .common] {
                    #expect(!loop.contains(second, in: mode))
                }
                first.invalidate()
            }
            #expect(witness.isGone)
            #expect(loop.runTurn() == .finished)
            #expect(loop.runTurn(in: "second") == .finished)
            // A mode marked later does not get what was refused.
            try loop.addCommonMode("third")
            #expect(loop.runTurn(in: "third") == .finished)
        }
    }

    @Test func `If a source cannot be added to the common modes, it stays in its earlier mode`() throws {
        try ManualRunLoop.with { manual in
            let loop = manual.loop
            try loop.addCommonMode("second")
            let source = RunLoop.DescriptorSource(8) { _, _ in }
            try loop.add(source, in: .default)
            manual.failNext("epoll_ctl", with: ENOMEM)
            #expect(throws: RunLoop.SystemCallError.self) { try loop.add(source, in: .common) }
            #expect(loop.contains(source, in: .default))
            #expect(!loop.contains(source, in: "second"))
            #expect(!loop.contains(source, in: .common))
            // A mode marked later does not get what was refused.
            try loop.addCommonMode("third")
            #expect(!loop.contains(source, in: "third"))
            #expect(try loop.add(source, in: .common))
            for mode: RunLoop.Mode in [.default, "second", "third", .common] {
                #expect(loop.contains(source, in: mode))
            }
        }
    }

    @Test func `A source stays in the common modes if the system refuses to add it to them again`() throws {
        try ManualRunLoop.with { manual in
            let loop = manual.loop
            try loop.addCommonMode("second")
            let source = RunLoop.DescriptorSource(8) { _, _ in }
            try loop.add(source, in: .common)
            loop.remove(source, from: "second")
            manual.failNext("epoll_ctl", with: ENOMEM)
            #expect(throws: RunLoop.SystemCallError.self) { try loop.add(source, in: .common) }
            #expect(loop.contains(source, in: .default))
            #expect(!loop.contains(source, in: "second"))
            #expect(loop.contains(source, in: .common))
            try loop.addCommonMode("third")
            #expect(loop.contains(source, in: "third"))
        }
    }

    @Test func `A sleep interrupted by a signal continues until the same instant without a new turn`() {
        ManualRunLoop.with { manual in
            let start = manual.now
            let fired = Box<Duration?>(nil)
            manual.loop.add(
                RunLoop.Timer(.after(.seconds(2))) { _ in fired.value = start.duration(to: manual.now) }, in: .default)
            manual.interruptNextWaits(5)
            let recorder = RunLoop.TraceRecorder(manual.loop)
            manual.loop.run(in: .default, for: .seconds(5))
            #expect(fired.value == .seconds(2))
            #expect(manual.waits == 6)
            #expect(manual.sleeps == 1)
            #expect(recorder.lines.count { $0 == "  beforeWaiting" } == 1)
            #expect(recorder.lines.count { $0 == "  afterWaiting" } == 1)
        }
    }

    @Test func `Marking a mode as common throws if a common descriptor source is refused, and changes nothing`() throws
    {
        try ManualRunLoop.with { manual in
            let loop = manual.loop
            let schedules = Locked<[RunLoop.Mode]>([])
            let timer = RunLoop.Timer(.after(.seconds(1))) { _ in }
            let observer = RunLoop.Observer(.all) { _, _ in }
            let signalled = RunLoop.Source(schedule: { _, mode in schedules.withLock { $0.append(mode) } }) { _ in }
            let source = RunLoop.DescriptorSource(1) { _, _ in }
            loop.add(timer, in: .common)
            loop.add(observer, in: .common)
            loop.add(signalled, in: .common)
            try loop.add(source, in: .common)
            manual.failNext("epoll_ctl", with: EMFILE)
            #expect(throws: RunLoop.SystemCallError(call: "epoll_ctl", code: EMFILE)) {
                try loop.addCommonMode("refused")
            }
            #expect(loop.commonModes == [.default])
            #expect(loop.modes == [.default])
            for item in [timer, observer, signalled, source] {
                #expect(!loop.contains(item, in: "refused"))
                #expect(loop.contains(item, in: .common))
                #expect(loop.contains(item, in: .default))
            }
            #expect(schedules.copy == [.default])
            // Nothing stands in the way of a second attempt.
            try loop.addCommonMode("refused")
            for item in [timer, observer, signalled, source] { #expect(loop.contains(item, in: "refused")) }
            #expect(schedules.copy == [.default, "refused"])
        }
    }
}
