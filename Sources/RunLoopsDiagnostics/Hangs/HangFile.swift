// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

internal import CLinuxKernel
internal import RunLoops

#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#endif

/// A report that lies on the disk while a hang lasts.
///
/// A disk that is full, or has gone, takes no report. Only the handler can learn of it, and the handler receives the
/// report anyway.
struct HangFile {
    private let path: String
    private let keepsEnded: Bool
    private var nextWrite: Int64
    private var pause: Int64 = 1_000_000_000

    init(directory: String, keepsEnded: Bool, _ report: RunLoop.HangWatch.Report) {
        path = "\(directory)/hang-\(getpid())-\(report.number).txt"
        self.keepsEnded = keepsEnded
        nextWrite = SystemCalls.now(.monotonic) + pause
        Self.put(report, path)
    }

    /// Whether it is time to write down what has become known: after a second, then at ever longer intervals.
    func isDue(at now: Int64) -> Bool { now >= nextWrite }

    mutating func write(_ report: RunLoop.HangWatch.Report) {
        pause = min(pause * 2, 60_000_000_000)
        nextWrite = SystemCalls.now(.monotonic) + pause
        Self.put(report, path)
    }

    /// Completes or removes it.
    func end(_ report: RunLoop.HangWatch.Report) {
        if keepsEnded { Self.put(report, path) } else { remove() }
    }

    func remove() { unlink(path) }

    /// A process that dies in the middle leaves the text before.
    private static func put(_ report: RunLoop.HangWatch.Report, _ path: String) {
        let part = path + ".part"
        let file = open(part, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
        guard file >= 0 else { return }
        var text = report.text + report.json + "\n"
        let isWhole = text.withUTF8 { Int(rl_write(file, $0.baseAddress, $0.count)) == $0.count }
        close(file)
        if !isWhole || rename(part, path) != 0 { unlink(part) }
    }
}
