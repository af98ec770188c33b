// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

internal import RunLoops
import RunLoopsDiagnostics

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// A program that is run and recorded, from its start to its end or for a while.
enum RecordedProgram {
    /// How long a program may take to end after it was asked to, and to begin before it is.
    private static let grace: Duration = .seconds(5)

    /// What it has left in `file`, and its exit status.
    ///
    /// - Parameters:
    ///   - file: Where its trace goes; what is there is replaced.
    ///   - length: After how long it is asked to end by SIGTERM, with its trace written; `nil` for never.
    static func run(_ command: [String], into file: String, for length: Duration? = nil) throws -> (
        json: String, report: RunLoop.Trace.Report, status: CInt
    ) {
        // What an earlier program has left must not be taken for this one's.
        if unlink(file) != 0, errno != ENOENT { throw CommandEnd.failure("\(file): \(reason(errno))") }
        var environment = ["RUNLOOP_TRACE": file]
        if let length { environment["RUNLOOP_TRACE_FOR"] = "\(length.milliseconds)" }
        // The program ends itself. A program that does not end cannot be recorded, or hangs.
        let status = try ChildProgram.run(command, environment: environment, limit: length.map { $0 + grace })
        guard let json = try? TextFile.read(file) else {
            throw CommandEnd.failure(
                "\(command[0]) left no trace in \(file): it does not link RunLoopsDiagnostics, or a signal ended it")
        }
        do {
            return (json, try RunLoop.Trace.Report(json: json), status)
        } catch {
            throw CommandEnd.failure("\(file): \(error)")
        }
    }

    /// The same, with the trace in a file that is gone afterwards.
    static func run(_ command: [String], for length: Duration?) throws -> (report: RunLoop.Trace.Report, status: CInt) {
        let folder = getenv("TMPDIR").map { String(cString: $0) } ?? "/tmp"
        var template = Array("\(folder)/runloop-XXXXXX".utf8CString)
        // A folder, because the program makes the file.
        guard let made = mkdtemp(&template).map({ String(cString: $0) }) else {
            throw CommandEnd.failure("\(folder): \(reason(errno))")
        }
        let file = made + "/trace.json"
        defer {
            unlink(file)
            rmdir(made)
        }
        let (_, report, status) = try run(command, into: file, for: length)
        return (report, status)
    }
}

extension Duration {
    fileprivate var milliseconds: Int64 {
        components.seconds * 1000 + components.attoseconds / 1_000_000_000_000_000
    }
}
