// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import Glibc
import RunLoops
import RunLoopsKit
import RunLoopsTestSupport
import Testing

/// Threads with a loop that a forked child makes while it has no descriptors left.
@Suite(
    .ownThread,
    .disabled(if: Sanitizer.isAny, "a sanitizer copies its locks, and calls a leak what a child inherits"))
struct RunLoopThreadForkProcessTests {
    /// What the parent has when it forks.
    enum Parent: CaseIterable, Codable {
        case mainLoop, thread, descriptorSource
    }

    // Swift Testing before 6.3 takes no value into an exit test.
    #if compiler(>=6.3)
    @Test(arguments: Parent.allCases)
    func `A child without free descriptors has working threads`(_ parent: Parent) async {
        await #expect(processExitsWith: .success) { [parent] in
            try TestThread.run {
                // A wait makes the main loop of a thread that has become the child's main thread.
                var kept: [Any] = [RunLoop.main]
                let pipe = DescriptorPair.pipe()
                switch parent {
                case .mainLoop: break
                case .thread:
                    let thread = try RunLoopThread(name: "parent's")
                    waitUntilAtRest(thread.loop)
                    kept.append(thread)
                case .descriptorSource:
                    let source = RunLoop.DescriptorSource(pipe.first) { _, _ in }
                    try RunLoop.current.add(source, in: .default)
                    kept.append(source)
                }
                for left in 0..<4 { #expect(forkPoorChild(left: left) == .good, "\(left) left") }
                withExtendedLifetime(kept) {}
            }
        }
    }
    #endif
}

/// A child with `left` descriptors makes a thread, waits for a closure of it, for a timer and for the thread's end.
private func forkPoorChild(left: Int) -> ForkedChild.End {
    ForkedChild.run {
        let scarcity = Scarcity(left: left)
        let thread = try RunLoopThread(name: "child's")
        let hasFired = Permit()
        let answer = try thread.performAndWait { 4 }
        thread.loop.perform(after: .milliseconds(1)) { hasFired.signal() }
        hasFired.wait()
        thread.stop()
        thread.join()
        scarcity.end()
        return answer == 4
    }
}
