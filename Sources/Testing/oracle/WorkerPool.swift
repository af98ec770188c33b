// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import OracleScenarios

/// Distributes a range of scenarios among worker processes and adds up their results.
struct WorkerPool {
    /// The number of scenarios for one worker: few enough that its main loop has not too many modes, and so many that
    /// the start of the worker costs little.
    private static let batch = 250
    /// The number of seconds without output after which a worker is ended; a scenario alone is much faster.
    private static let patience: Int64 = 60
    /// The same for the second run of a scenario: the worker repeats a scenario until its timers come in time, which takes long
    /// on a machine with too much to do.
    private static let longPatience: Int64 = 900

    let seed: UInt64
    let subject: Subject
    let jobs: Int
    /// How many differences may still be printed.
    var prints: Int
    let isVerbose: Bool
    private var tally = Tally()
    /// The scenarios whose worker was ended because it wrote nothing, and that run once more.
    private var repeated: Set<Int> = []

    init(seed: UInt64, subject: Subject, jobs: Int, prints: Int, isVerbose: Bool) {
        self.seed = seed
        self.subject = subject
        self.jobs = jobs
        self.prints = prints
        self.isVerbose = isVerbose
    }

    mutating func run(_ range: Range<Int>) throws -> Tally {
        tally = Tally()
        var waiting = stride(from: range.lowerBound, to: range.upperBound, by: Self.batch).map {
            $0..<min($0 + Self.batch, range.upperBound)
        }
        waiting.reverse()
        var workers: [WorkerProcess] = []
        var heard: [Int64] = []
        while !waiting.isEmpty || !workers.isEmpty {
            while workers.count < jobs, let batch = waiting.popLast() {
                workers.append(
                    try WorkerProcess(
                        batch, seed: seed, subject: subject, shrinks: prints))
                heard.append(Self.seconds())
            }
            var polled = workers.map { pollfd(fd: $0.output, events: Int16(POLLIN), revents: 0) }
            poll(&polled, nfds_t(polled.count), 1_000)
            for index in workers.indices.reversed() {
                var isSilent = false
                if polled[index].revents != 0 {
                    heard[index] = Self.seconds()
                    if workers[index].read({ take($0) }) { continue }
                } else {
                    let patience = repeated.contains(workers[index].current) ? Self.longPatience : Self.patience
                    if Self.seconds() - heard[index] < patience { continue }
                    isSilent = true
                    workers[index].kill()
                }
                heard.remove(at: index)
                waiting += ending(workers.remove(at: index), isSilent: isSilent)
            }
        }
        return tally
    }

    private mutating func take(_ line: WorkerLine) {
        switch line {
        case .settled(let number):
            tally.settled += 1
            if isVerbose { print("scenario \(number) settled on re-run") }
        case .awake(let number):
            tally.awake += 1
            if isVerbose { print("scenario \(number) is the same but for a sleep without items") }
        case .reordered(let number):
            tally.reordered += 1
            if isVerbose { print("scenario \(number) is the same in another order of what was ready together") }
        case .different(let number, let text):
            tally.differences += 1
            guard let text, prints > 0 else { return print("difference in scenario \(number)") }
            prints -= 1
            print("DIFFERENCE in \(text)\n")
        case .started, .ended: break
        }
    }

    /// Handles the end of a worker; returns the scenarios that it has left out.
    ///
    /// If the worker crashed, or was ended for the second time in its present scenario because it wrote nothing, this scenario
    /// counts as a difference. The scenarios after it are returned.
    private mutating func ending(_ worker: WorkerProcess, isSilent: Bool) -> [Range<Int>] {
        let lastWords = worker.finish()
        guard !worker.hasEnded else { return [] }
        let number = worker.current
        let rest = number + 1 < worker.range.upperBound ? [(number + 1)..<worker.range.upperBound] : []
        if isSilent, repeated.insert(number).inserted {
            print("scenario \(number) has not ended in \(Self.patience) s, and runs once more")
            return rest + [number..<number + 1]
        }
        tally.differences += 1
        print("CRASH or hang in scenario \(number): \(lastWords)\n")
        return rest
    }

    private static func seconds() -> Int64 {
        var now = timespec()
        clock_gettime(CLOCK_MONOTONIC, &now)
        return Int64(now.tv_sec)
    }
}
