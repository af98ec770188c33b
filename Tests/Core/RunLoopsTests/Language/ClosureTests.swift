// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import RunLoops
import RunLoopsTestSupport
import RunLoopsTesting
import Testing

/// Every way to give a loop a closure, in Swift 6 mode, without `nonisolated(unsafe)` and without `@unchecked`.
@Suite(.ownThread) struct ClosureTests {
    /// State of one thread: not Sendable, and mutable.
    private final class Model {
        var count = 0
    }

    @MainActor private final class Screen {
        var title = ""
        nonisolated init() {}
    }

    @Test func `Closures added on the loop's own thread may use that thread's state`() throws {
        try ManualRunLoop.with { manual in
            let loop = RunLoop.current
            let model = Model()
            var total = 0
            loop.add(RunLoop.Timer(.after(.zero)) { _ in model.count += 1 }, in: .default)
            let source = RunLoop.Source(
                schedule: { _, _ in model.count += 10 }, cancel: { _, _ in model.count += 100 }
            ) { _ in model.count += 1000 }
            loop.add(source, in: .default)
            loop.add(RunLoop.Observer(.entry) { _, _ in model.count += 10_000 }, in: .default)
            try loop.add(
                RunLoop.DescriptorSource(0) { _, _ in
                    model.count += 100_000
                    manual.setReady(0, [])
                }, in: .default)
            loop.performLocally { total += model.count }
            loop.performLocally(in: [.default, "other"]) { model.count += 1_000_000 }
            source.signal()
            manual.setReady(0, .readable)
            _ = loop.run(in: .default, for: .milliseconds(1))
            source.invalidate()
            #expect(model.count == 1_111_111)
            #expect(total == 10_010)
        }
    }

    @Test func `Sendable closures can be added from another thread`() {
        withRealLoop { loop in
            let count = Locked(0)
            let pipe = DescriptorPair.pipe()
            loop.addSource()
            let other = TestThread {
                loop.add(RunLoop.Timer.sendable(.after(.zero)) { _ in count.increment() }, in: .default)
                let source = RunLoop.Source.sendable(
                    schedule: { _, _ in count.increment() }, cancel: { _, _ in count.increment() }
                ) { source in
                    count.increment()
                    source.invalidate()
                }
                loop.add(source, in: .default)
                source.signal()
                loop.add(
                    RunLoop.Observer.sendable(.beforeTimers, repeats: false) { _, _ in count.increment() }, in: .default
                )
                addDescriptorSource(
                    RunLoop.DescriptorSource.sendable(pipe.second, for: .writable) { descriptorSource, _ in
                        count.increment()
                        descriptorSource.invalidate()
                    }, to: loop)
                loop.perform { count.increment() }
                loop.perform(in: [.default, "other"]) { count.increment() }
            }
            waitUntil {
                _ = loop.run(in: .default, for: .milliseconds(1))
                return count.count == 8
            }
            other.join()
            #expect(count.count == 8)
        }
    }

    @Test func `Closures of the main loop may use the main actor's state`() async {
        // Only that it compiles and can be added from any thread; that it runs there is shown by MainQueueTests.
        let screen = Screen()
        let items: [RunLoop.Item] = [
            RunLoop.Timer.mainActor(.after(.seconds(1))) { _ in screen.title = "timer" },
            RunLoop.Source.mainActor { _ in screen.title = "source" },
            RunLoop.Observer.mainActor(.all) { _, _ in screen.title = "observer" },
        ]
        for item in items {
            RunLoop.main.addAny(item, in: "a mode of this test")
            #expect(RunLoop.main.contains(item, in: "a mode of this test"))
            item.invalidate()
        }
        let pipe = DescriptorPair.pipe()
        let descriptorSource = RunLoop.DescriptorSource.mainActor(pipe.first) { _, _ in screen.title = "descriptor" }
        addDescriptorSource(descriptorSource, to: .main, in: "a mode of this test")
        descriptorSource.invalidate()
        RunLoop.performOnMainActor(in: "never run") { screen.title = "block" }
        RunLoop.performOnMainActor(in: ["never run"], wake: false) { screen.title = "block" }
        #expect(await screen.title == "")
    }

    @Test @MainActor func `A local closure made on the main actor may use the main actor's state`() {
        let screen = Screen()
        let timer = RunLoop.Timer(.after(.seconds(1))) { _ in screen.title = "timer" }
        timer.invalidate()
        #expect(screen.title == "")
    }
}
