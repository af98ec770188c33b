// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import RunLoopsDiagnostics

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// A process as the command line names it: by number.
enum ProcessArgument {
    static func parse(_ word: String, usage: String) throws -> Int32 {
        guard let process = Int32(word), process > 0 else {
            throw CommandEnd.misuse("'\(word)' is not the number of a process", usage)
        }
        return process
    }

    static func connect(_ process: Int32) throws -> InspectorClient {
        if let client = InspectorClient.find(process) { return client }
        if kill(process, 0) != 0, errno == ESRCH { throw CommandEnd.failure("there is no process \(process)") }
        throw CommandEnd.failure(
            "process \(process) cannot be looked into: it must be this user's, link RunLoopsDiagnostics, and be started "
                + "with RUNLOOP_INSPECT=1 or call Inspector.start()")
    }

    /// The end of a command that could not ask a process.
    static func failure(_ process: Int32, _ reason: InspectorClient.Failure) -> CommandEnd {
        if case .silent = reason, isStopped(process) { return .failure("process \(process) is stopped") }
        return .failure("process \(process): \(reason)")
    }

    /// Whether a signal or a debugger has stopped it.
    static func isStopped(_ process: Int32) -> Bool {
        guard let text = try? TextFile.read("/proc/\(process)/stat"), let end = text.lastIndex(of: ")") else {
            return false
        }
        let state = text[end...].dropFirst(2).first
        return state == "T" || state == "t"
    }
}
