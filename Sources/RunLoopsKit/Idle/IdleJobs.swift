/// Jobs by priority, first in, first out; those that were cancelled are passed over.
internal import RunLoops

struct IdleJobs {
    private var rows: [Row] = RunLoop.IdleQueue.Priority.allCases.map { _ in Row() }

    /// A row that is taken from the front without moving the rest each time.
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

    /// The oldest of the highest priority, which leaves.
    mutating func next() -> RunLoop.IdleQueue.Job? {
        for index in rows.indices.reversed() {
            if let job = rows[index].next() { return job }
        }
        return nil
    }
}
