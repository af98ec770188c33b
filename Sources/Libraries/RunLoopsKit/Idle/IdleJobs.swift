// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

/// Jobs by priority, first in, first out; cancelled jobs are passed over.
internal import RunLoops

struct IdleJobs {
    private var rows: [Row] = RunLoop.IdleQueue.Priority.allCases.map { _ in Row() }

    /// A row from which jobs are taken at the front without moving the rest each time.
    private struct Row {
        var jobs: [RunLoop.IdleQueue.Job] = []
        var first = 0

        mutating func next() -> RunLoop.IdleQueue.Job? {
            while first < jobs.count {
                let job = jobs[first]
                first += 1
                if first == jobs.count || first >= 1024 {
                    jobs.removeFirst(first)
                    first = 0
                }
                if job.isPending { return job }
            }
            return nil
        }
    }

    mutating func append(_ job: RunLoop.IdleQueue.Job) { rows[job.priority.rawValue].jobs.append(job) }

    /// Removes and returns the oldest job of the highest priority.
    mutating func next() -> RunLoop.IdleQueue.Job? {
        for index in rows.indices.reversed() {
            if let job = rows[index].next() { return job }
        }
        return nil
    }
}
