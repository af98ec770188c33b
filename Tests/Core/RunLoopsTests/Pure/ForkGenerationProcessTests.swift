// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import CRunLoopsKernel
import Glibc
import RunLoopsSystem
import RunLoopsTestSupport
import Testing

@testable import RunLoops

/// What tells a child from its parent, and what is built on that.
@Suite(
    .ownThread,
    .disabled(if: Sanitizer.isAny, "a sanitizer copies its locks, and calls a leak what a child inherits"))
struct ForkGenerationProcessTests {
    @Test func `A ForkGeneration's isInherited is true in a child and false in the process that made it`() async {
        await #expect(processExitsWith: .success) {
            let first = ForkGeneration()
            let end = ForkedChild.run {
                let second = ForkGeneration()
                let inner = ForkedChild.run { first.isInherited && second.isInherited && !ForkGeneration().isInherited }
                return first.isInherited && !second.isInherited && inner == .good
            }
            #expect(end == .good)
            #expect(!first.isInherited)
        }
    }

    @Test func `PerProcess makes one object for each process`() async {
        await #expect(processExitsWith: .success) {
            let made = Locked(0)
            let numbers = PerProcess { () -> Locked<Int> in Locked(made.incremented()) }
            #expect(numbers.made == nil)
            let first = numbers.own
            #expect(first.copy == 1 && numbers.own === first && numbers.made === first)
            let end = ForkedChild.run {
                numbers.made == nil && numbers.own.copy == 2 && numbers.own === numbers.made
            }
            #expect(end == .good)
            #expect(numbers.own === first && made.count == 1)
        }
    }

    @Test func `A lock held by another thread at the fork is free in the child`() async {
        await #expect(processExitsWith: .success) {
            // Once, what a lock does that is waited for: the runtime looks its types up then, and a child hangs that is made while
            // another thread does so.
            let known = Lock()
            known.lock()
            _ = known.lock(until: 0)
            known.unlock()
            let guarded = Guarded(1)
            let (taken, release) = (Permit(), Permit())
            let holder = TestThread {
                guarded.withLock { _ in
                    taken.signal()
                    release.wait()
                }
            }
            taken.wait()
            // A waiting thread as well, so that the word says so.
            let waiting = TestThread { guarded.withLock { $0 += 1 } }
            let end = ForkedChild.run {
                guarded.withLock { $0 = 7 }
                return guarded.withLock { $0 } == 7
            }
            #expect(end == .good)
            release.signal()
            holder.join()
            waiting.join()
            #expect(guarded.withLock { $0 } == 2)
        }
    }

    // The thread sanitizer cannot follow threads that are made after a fork.
    @Test(.disabled(if: Sanitizer.isThread)) func `A lock works between the threads of a child`() async {
        await #expect(processExitsWith: .success) {
            let count = Guarded(0)
            let end = ForkedChild.run {
                let threads = (0..<4).map { _ in TestThread { for _ in 0..<10_000 { count.withLock { $0 += 1 } } } }
                for thread in threads { thread.join() }
                return count.withLock { $0 } == 40_000
            }
            #expect(end == .good)
        }
    }

    @Test func `A child closes a private descriptor but not a descriptor that reused its number`() async {
        await #expect(processExitsWith: .success) {
            let pipe = DescriptorPair.pipe()
            let kept = dup(pipe.second)
            var descriptor: PrivateDescriptor? = PrivateDescriptor(adopting: kept)
            pipe.closeSecond()
            let given = PrivateDescriptor(adopting: dup(pipe.first)).number
            // Closed by its object in this process: a child must leave alone what has the number now.
            #expect(dup2(pipe.first, given) == given)
            let end = ForkedChild.run {
                guard fcntl(kept, F_GETFD) < 0, fcntl(given, F_GETFD) >= 0, descriptor?.number == -1 else {
                    return false
                }
                guard dup2(0, kept) == kept else { return false }
                descriptor = nil
                return fcntl(kept, F_GETFD) >= 0
            }
            #expect(end == .good)
            #expect(descriptor?.number == kept && fcntl(kept, F_GETFD) >= 0)
            descriptor = nil
            // This process had the only copy: the reader sees the end.
            var byte: UInt8 = 0
            #expect(read(pipe.first, &byte, 1) == 0)
        }
    }

    @Test(.needsDescriptors(1000)) func `A child closes private descriptors with large numbers`() async {
        await #expect(processExitsWith: .success) {
            await letDispatchOpenItsTimers()
            let descriptors = (0..<300).map { _ in PrivateDescriptor(adopting: dup(0)) }
            let far = PrivateDescriptor(adopting: duplicateFarAway(0))
            let numbers = descriptors.map(\.number) + [far.number]
            let before = countOpenDescriptors()
            let end = ForkedChild.run {
                countOpenDescriptors() == before - 301 && numbers.allSatisfy { fcntl($0, F_GETFD) < 0 }
            }
            #expect(end == .good)
            #expect(numbers.allSatisfy { fcntl($0, F_GETFD) >= 0 })
            withExtendedLifetime((descriptors, far)) {}
        }
    }
}
