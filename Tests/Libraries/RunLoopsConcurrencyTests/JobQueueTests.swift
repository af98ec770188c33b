// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import RunLoopsTestSupport
import Testing

@testable import RunLoopsConcurrency

/// The order of jobs: no threads, no tasks.
///
/// A job is any number but 0.
@Suite struct JobQueueTests {
    /// Priorities as Swift numbers them.
    private enum Priority {
        static let interactive: UInt8 = 33
        static let high: UInt8 = 25
        static let medium: UInt8 = 21
        static let low: UInt8 = 17
        static let background: UInt8 = 9
    }

    private func job(_ number: Int) -> JobReference { JobReference(number: number) }

    private func drain(_ queue: inout JobQueue) -> [Int] {
        var numbers: [Int] = []
        while let job = queue.removeMostUrgent() { numbers.append(job.number) }
        return numbers
    }

    @Test func `A priority between two of Swift's priorities maps to the urgency of the higher one`() {
        let urgencies = [255, 33, 26, 25, 22, 21, 18, 17, 10, 9, 1, 0].map { JobQueue.urgency(of: $0) }
        #expect(urgencies == [0, 0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 4])
    }

    @Test func `Jobs are removed by urgency, and jobs of equal urgency in the order in which they were added`() {
        var queue = JobQueue()
        let priorities = [
            Priority.background, Priority.medium, Priority.interactive, Priority.medium, Priority.low, Priority.high,
            Priority.interactive,
        ]
        for (index, priority) in priorities.enumerated() { queue.append(.init(job(index + 1), priority: priority)) }
        #expect(queue.count == 7)
        #expect(drain(&queue) == [3, 7, 6, 2, 4, 5, 1])
        #expect(queue.count == 0)
    }

    @Test func `removeLeastUrgent returns the least urgent job`() {
        var queue = JobQueue()
        queue.append(.init(job(1), priority: Priority.low))
        queue.append(.init(job(2), priority: Priority.background))
        queue.append(.init(job(3), priority: Priority.high))
        #expect(queue.removeLeastUrgent() == job(2))
        #expect(queue.removeLeastUrgent() == job(1))
        #expect(queue.removeLeastUrgent() == job(3))
        #expect(queue.removeLeastUrgent() == nil)
    }

    @Test func `A queue that grows and wraps keeps its order`() {
        var queue = JobQueue()
        var next = 1
        var expected = 1
        for round in 0..<200 {
            for _ in 0..<(round % 7 * 13) {
                queue.append(.init(job(next), priority: Priority.medium))
                next += 1
            }
            for _ in 0..<(round % 5 * 11) {
                guard let first = queue.removeMostUrgent() else { break }
                #expect(first == job(expected))
                expected += 1
            }
        }
        #expect(drain(&queue) == Array(expected..<next))
    }

    @Test func `A queue can be drained and used again after a burst`() {
        var queue = JobQueue()
        for number in 1...100_000 { queue.append(.init(job(number), priority: Priority.medium)) }
        #expect(drain(&queue).count == 100_000)
        queue.append(.init(job(1), priority: Priority.medium))
        #expect(drain(&queue) == [1])
    }

    @Test func `append(all:) moves a queue's jobs to the end of another`() {
        var first = JobQueue()
        var second = JobQueue()
        first.append(.init(job(1), priority: Priority.medium))
        second.append(.init(job(2), priority: Priority.medium))
        second.append(.init(job(3), priority: Priority.high))
        first.append(all: &second)
        #expect(second.count == 0)
        #expect(drain(&first) == [3, 1, 2])
    }

    @Test func `liftEscalated moves an escalated job before less urgent jobs, wherever it is in the queue`() {
        var queue = JobQueue()
        for number in 1...1000 { queue.append(.init(job(number), priority: Priority.background)) }
        queue.append(.init(job(1001), priority: Priority.medium))
        // Each call looks at a bounded number of jobs, and the next call goes on from there.
        for _ in 0..<5 {
            queue.liftEscalated { job, _ in job.number == 900 ? Priority.high : Priority.background }
        }
        let order = drain(&queue)
        #expect(order.prefix(3) == [900, 1001, 1])
        #expect(order.count == 1001)
        #expect(Set(order).count == 1001)
    }
}
