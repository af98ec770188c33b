// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import Glibc
import RunLoops
import RunLoopsKit
import RunLoopsTestSupport
import Testing

/// What thousands of threads leave behind, seen in a process where nothing else runs.
@Suite(.ownThread) struct RunLoopThreadCycleProcessTests {
    @Test func `Thousands of started and stopped threads leave no memory, thread or descriptor behind`() async {
        let result = await #expect(
            processExitsWith: .success, observing: [\.standardOutputContent]
        ) {
            let rounds = isFull ? 10_000 : 1000
            func cycle(_ count: Int, _ seed: UInt64) {
                var random = seed
                for _ in 0..<count {
                    // Numerical Recipes' constants for a linear congruence.
                    random = random &* 1_664_525 &+ 1_013_904_223
                    oneLife(random >> 16)
                }
            }
            let threads = countEntries("/proc/self/task")
            // Waits for the end of the threads that were not joined: a thread that is left keeps the test from ending. A thread that
            // has not begun has no name yet.
            func settle() { waitUntil { countEntries("/proc/self/task") <= threads && namesOfOwnThreads().isEmpty } }
            cycle(rounds / 10, 1)
            settle()
            let before = Surroundings()
            cycle(rounds, 2)
            settle()
            let after = Surroundings()
            print("FIG \(rounds) cycles: \(before) -> \(after)")
            // Also when one of the conditions below does not hold.
            fflush(nil)
            precondition(after.descriptors <= before.descriptors)
            // A sanitizer keeps what is freed for a while, and finds leaks itself.
            if Sanitizer.isAny { return }
            // The allocator's own pages come and go; a leak of 100 bytes a cycle would show.
            precondition(after.bytes <= before.bytes + 256 * 4096, "\(before) -> \(after)")
        }
        if isFull, let result { print(String(decoding: result.standardOutputContent, as: UTF8.self)) }
    }
}

/// One thread: started, given something to do, ended in one of the ways there are, at some instant.
private func oneLife(_ random: UInt64) {
    let thread = makeThread("cycle")
    for _ in 0..<random % 4 { thread.post { _ = SystemCalls.now(.monotonic) } }
    if random & 16 != 0 { for _ in 0..<(random >> 8) % 2000 { _ = SystemCalls.now(.monotonic) } }
    switch (random >> 5) % 6 {
    case 0: thread.stop()
    case 1: thread.stop(.dropping)
    case 2: thread.post { thread.stop(.dropping) }
    case 3:
        thread.post { withExtendedLifetime(thread) {} }
        return
    case 4: return
    default:
        _ = try? thread.performAndWait { thread.post { thread.stop() } }
        thread.stop()
    }
    thread.post {}
    if random & 32 != 0 { thread.join() }
}

private struct Surroundings: CustomStringConvertible {
    let descriptors = countOpenDescriptors()
    let bytes = residentBytes()

    var description: String { "\(descriptors) descriptors, \(bytes) resident bytes" }
}
