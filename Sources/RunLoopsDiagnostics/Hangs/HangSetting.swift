// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

internal import RunLoops

#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#endif

/// What the loops of one watch share.
///
/// Everything that is not fixed belongs to the watcher's thread.
final class HangSetting: @unchecked Sendable {
    let handler: @Sendable (RunLoop.HangWatch.Report) -> Void
    let interval: Int64
    let reportsWhenTraced: Bool
    let sampler: StackSampler?
    let symbolizer = Symbolizer()
    @exclusivity(unchecked) var annealer = HangAnnealer()
    private let directory: String?
    private let keepsReports: Bool

    init(_ options: RunLoop.HangWatch.Options, _ handler: @escaping @Sendable (RunLoop.HangWatch.Report) -> Void)
        throws(RunLoop.HangWatch.Refusal)
    {
        self.handler = handler
        interval = options.samplingInterval.clampedNanoseconds
        reportsWhenTraced = options.reportsWhenTraced
        directory = options.directory
        keepsReports = options.keepsReports
        if let directory = options.directory, access(directory, W_OK | X_OK) != 0 {
            throw .directory(directory, RunLoop.SystemCallError(call: "access", code: errno))
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

    /// The report's file, written; `nil` where none is wanted.
    func file(for report: RunLoop.HangWatch.Report) -> HangFile? {
        directory.map { HangFile(directory: $0, keepsEnded: keepsReports, report) }
    }
}
