// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import RunLoops
import RunLoopsTestSupport
import RunLoopsTesting
import Testing

/// Specification 8: what a loop says of itself.
@Suite(.ownThread) struct DescriptionTests {
    @Test func `The dump of an empty loop has its default mode and no items`() {
        ManualRunLoop.with { manual in
            let thread = SystemCalls.threadID
            #expect(manual.loop.description == "<RunLoop of thread \(thread)>{not running}")
            #expect(
                manual.loop.detailedDescription() == """
                    <RunLoop of thread \(thread)>{
                      current mode = (none), waiting = no,
                      common modes = {kCFRunLoopDefaultMode},
                      common items = (none)
                      blocks not yet run = (none)
                      modes = 1 {
                        kCFRunLoopDefaultMode (common) {
                          sources = (none)
                          observers = (none)
                          timers = (none)
                        }
                      }
                    }
                    """)
        }
    }

    @Test func `A value that contains a loop is printed in one line`() {
        struct Service { let loop: RunLoop }
        ManualRunLoop.with { manual in
            manual.loop.add(RunLoop.Timer(.every(.seconds(1)), label: "tick") { _ in }, in: .default)
            let printed = "\(Service(loop: manual.loop))"
            #expect(printed == "Service(loop: <RunLoop of thread \(SystemCalls.threadID)>{not running})")
            #expect(manual.loop.detailedDescription().contains("tick"))
        }
    }

    @Test func `The dump lists all modes with their items`() throws {
        try ManualRunLoop.with { manual in
            let loop = manual.loop
            loop.markCommon(.tracking)
            let input = RunLoop.Source(order: 1, label: "input") { _ in }
            loop.add(input, in: .common)
            input.signal()
            try loop.add(
                RunLoop.DescriptorSource(5, for: [.readable, .writable], label: "socket") { _, _ in },
                in: .default)
            loop.add(
                RunLoop.Observer([.beforeWaiting, .exit], order: 2_000_000, label: "commit") { _, _ in }, in: .default)
            loop.add(RunLoop.Observer(.all, order: -1, repeats: false, label: "once") { _, _ in }, in: .default)
            loop.add(
                RunLoop.Timer(.every(.seconds(2)), tolerance: .milliseconds(100), label: "clock") { _ in }, in: .default
            )
            loop.add(RunLoop.Timer(.after(.milliseconds(500)), label: "soon") { _ in }, in: .default)
            loop.add(RunLoop.Timer(.after(.seconds(1), clock: .boottime), label: "boot") { _ in }, in: "private")
            let now = manual.now.nanoseconds
            #expect(
                loop.detailedDescription() == """
                    <RunLoop of thread \(SystemCalls.threadID)>{
                      current mode = (none), waiting = no,
                      common modes = {kCFRunLoopDefaultMode, UITrackingRunLoopMode},
                      common items = 1 {
                        <RunLoop.Source input>{valid, order 1, signalled}
                      }
                      blocks not yet run = (none)
                      modes = 3 {
                        kCFRunLoopDefaultMode (common) {
                          sources = 2 {
                            <RunLoop.Source input>{valid, order 1, signalled}
                            <RunLoop.DescriptorSource socket>{valid, descriptor 5, [readable, writable]}
                          }
                          observers = 2 {
                            <RunLoop.Observer once>{valid, [all], order -1, once}
                            <RunLoop.Observer commit>{valid, [beforeWaiting, exit], order 2000000, repeats}
                          }
                          timers = 2 {
                            <RunLoop.Timer soon>{valid, interval = (once), tolerance = 0.000 ms, next fire = 500.000 ms from now (monotonic \(now + 500_000_000))}
                            <RunLoop.Timer clock>{valid, interval = 2000.000 ms, tolerance = 100.000 ms, next fire = 2000.000 ms from now (monotonic \(now + 2_000_000_000))}
                          }
                        }
                        UITrackingRunLoopMode (common) {
                          sources = 1 {
                            <RunLoop.Source input>{valid, order 1, signalled}
                          }
                          observers = (none)
                          timers = (none)
                        }
                        private {
                          sources = (none)
                          observers = (none)
                          timers = 1 {
                            <RunLoop.Timer boot>{valid, interval = (once), tolerance = 0.000 ms, next fire = 1000.000 ms from now (boottime \(manual.now(.boottime).nanoseconds + 1_000_000_000))}
                          }
                        }
                      }
                    }
                    """)
        }
    }

    @Test func `In a callout, the description names the current mode and the dump marks the firing timer`() {
        ManualRunLoop.with { manual in
            let seen = Box<[String]>([])
            manual.loop.add(
                RunLoop.Timer(.every(.seconds(1)), label: "me") { _ in
                    seen.value = [manual.loop.description, manual.loop.detailedDescription()]
                }, in: "shown")
            manual.advance(by: .seconds(1), in: "shown")
            #expect(seen.value.first == "<RunLoop of thread \(SystemCalls.threadID)>{in shown}")
            #expect(seen.value.last?.contains("current mode = shown, waiting = no,") == true)
            #expect(seen.value.last?.contains("<RunLoop.Timer me>{valid, firing, interval = 1000.000 ms") == true)
        }
    }

    @Test func `The label of an unlabelled item is the file and line that made it`() {
        ManualRunLoop.with { _ in
            let first = #line + 2
            let items: [RunLoop.Item] = [
                RunLoop.Source { _ in },
                RunLoop.Timer(.after(.zero)) { _ in },
                RunLoop.Observer(.all) { _, _ in },
                RunLoop.DescriptorSource(0) { _, _ in },
                RunLoop.Source.sendable { _ in },
                RunLoop.Timer.sendable(.after(.zero)) { _ in },
                RunLoop.Observer.sendable(.all) { _, _ in },
                RunLoop.DescriptorSource.sendable(0) { _, _ in },
                RunLoop.Source.mainActor { _ in },
                RunLoop.Timer.mainActor(.after(.zero)) { _ in },
                RunLoop.Observer.mainActor(.all) { _, _ in },
                RunLoop.DescriptorSource.mainActor(0) { _, _ in },
            ]
            for (index, item) in items.enumerated() {
                #expect(item.label == "RunLoopsTests/DescriptionTests.swift:\(first + index)")
            }
        }
    }
}
