// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import RunLoops
import RunLoopsTestSupport
import RunLoopsTesting

// A child that is forked in the middle of a program: it leaves the kernel's objects of its parent alone, whatever it
// does, and has a loop of its own. The rules go on to hold in the parent.
extension Simulation {
    func fork() {
        let end = ForkedChild.run {
            // The cancel closures of sources are called in the child too; the program goes on in the parent alone.
            isOver = true
            let before = kernelCalls
            changeInherited()
            guard kernelCalls == before else {
                SystemCalls.writeToStandardError("a child's calls of the kernel: \(before), then \(kernelCalls)\n")
                return false
            }
            return hasOwnLoop()
        }
        expect(end == .good, "a child that was forked when \(tick) things had happened: \(end)")
    }

    /// What the child would change in the parent.
    private var kernelCalls: [Int] { [kernel.watched, kernel.wakeCalls, kernel.waits, kernel.polls] }

    /// All that a child may do with its parent's items: each of these works on memory alone.
    private func changeInherited() {
        for item in items {
            switch item.item {
            case .timer(let timer): timer.restart(after: .zero)
            case .source(let source): source.signal()
            case .descriptor(let source): source.events = [.readable, .writable]
            case .observer: break
            }
            item.object.invalidate()
        }
        items = []
    }

    private func hasOwnLoop() -> Bool {
        let calls = Box<[String]>([])
        let loop = RunLoop.current
        let source = RunLoop.Source { _ in calls.value.append("source") }
        loop.add(source, in: .default)
        source.signal()
        loop.performLocally { calls.value.append("closure") }
        loop.add(
            RunLoop.Timer(.after(.milliseconds(1))) { _ in
                calls.value.append("timer")
                loop.stop()
            }, in: .default)
        let isStopped = loop.run(in: .default, for: .seconds(600)) == .stopped
        return isStopped && calls.value == ["closure", "source", "timer"] && !loops.contains { $0.loop === loop }
    }
}
