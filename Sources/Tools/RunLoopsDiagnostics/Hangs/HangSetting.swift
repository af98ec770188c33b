// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

internal import RunLoops
internal import RunLoopsLibC
internal import RunLoopsSystem

/// The settings and state that all loops of one watch share.
///
/// The variable parts belong to the watcher's thread.
final class HangSetting: @unchecked Sendable {
    let options: RunLoop.HangWatch.Options
    let handler: @Sendable (RunLoop.HangWatch.Report) -> Void
    let sampler: StackSampler?
    let symbolizer = Symbolizer()
    @exclusivity(unchecked) var annealer = HangAnnealer()
    /// The rings of tasks that have been reported, by the tasks' ids.
    @exclusivity(unchecked) private var knownRings: Set<[UInt64]> = []

    init(_ options: RunLoop.HangWatch.Options, _ handler: @escaping @Sendable (RunLoop.HangWatch.Report) -> Void)
        throws(RunLoop.HangWatch.Refusal)
    {
        self.options = options
        self.handler = handler
        if let directory = options.directory {
            let code = SystemText(directory)?.withCString { access($0, W_OK | X_OK) == 0 ? 0 : errno } ?? EINVAL
            if code != 0 { throw .directory(directory, RunLoop.SystemCallError(call: "access", code: code)) }
        }
        guard options.takesStacks else {
            sampler = nil
            return
        }
        do {
            sampler = StackSampler(signal: try StackSampler.start(signal: options.signal))
        } catch {
            throw error.code == EBUSY ? .signalIsTaken(options.signal) : .refused(error)
        }
    }

    /// Searches for tasks of this process that wait for each other; returns a sentence about each ring that is new.
    func newRings() -> [String] {
        // Without a report, as with an unknown runtime, the watch knows less.
        guard let report = try? TaskReport(of: getpid()) else { return [] }
        return zip(report.rings, report.ringLines).filter { ring, _ in
            knownRings.insert(ring.map { report.tasks[$0].id }).inserted
        }.map(\.1)
    }

    /// Creates and writes the file of a report; `nil` if the options name no directory.
    func file(for report: RunLoop.HangWatch.Report) -> HangFile? {
        options.directory.map { HangFile(directory: $0, keepsEnded: options.keepsReports, report) }
    }
}

/// The file with the report of a hang under way.
///
/// An error of the disk, such as a full disk, is ignored: the handler receives the report anyway.
struct HangFile {
    private let path: String
    private let keepsEnded: Bool
    /// The process that created the file: a forked child has a copy of this value, and must not remove its parent's
    /// file.
    private let generation = ForkGeneration()
    private var nextWrite: Int64
    private var pause: Int64 = 1_000_000_000

    init(directory: String, keepsEnded: Bool, _ report: RunLoop.HangWatch.Report) {
        path = "\(directory)/hang-\(getpid())-\(report.number).txt"
        self.keepsEnded = keepsEnded
        nextWrite = SystemCalls.now(.monotonic) + pause
        Self.put(report, path)
    }

    /// Whether it is time to write the file anew: one second after it was created, then at ever longer intervals of up
    /// to a minute.
    func isDue(at now: Int64) -> Bool { now >= nextWrite }

    mutating func write(_ report: RunLoop.HangWatch.Report) {
        pause = min(pause * 2, 60_000_000_000)
        nextWrite = SystemCalls.now(.monotonic) + pause
        Self.put(report, path)
    }

    /// Writes the final report, or removes the file if ended hangs are not kept.
    func end(_ report: RunLoop.HangWatch.Report) {
        if keepsEnded { Self.put(report, path) } else { remove() }
    }

    func remove() { if !generation.isInherited { unlink(path) } }

    /// Writes the report; if the process dies meanwhile, the file keeps the previous report.
    private static func put(_ report: RunLoop.HangWatch.Report, _ path: String) {
        try? FileReplacement.write(report.text + report.json + "\n", to: path, mode: 0o600)
    }
}
