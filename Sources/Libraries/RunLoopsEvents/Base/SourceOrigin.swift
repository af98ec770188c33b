// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

internal import RunLoops

/// Where a source was made, the source's name, and where its closure may run.
struct SourceOrigin: Sendable {
    let label: String?
    let fileID: StaticString
    let line: UInt
    /// The one thread whose loop may take the source, by the kernel's number; 0 for any.
    let allowedThread: Int32

    /// For a closure that may use the state of the thread that makes it.
    static func here(_ label: String?, _ fileID: StaticString, _ line: UInt) -> SourceOrigin {
        SourceOrigin(label: label, fileID: fileID, line: line, allowedThread: SystemCalls.threadID)
    }

    /// For a closure that may run on any thread.
    static func anywhere(_ label: String?, _ fileID: StaticString, _ line: UInt) -> SourceOrigin {
        SourceOrigin(label: label, fileID: fileID, line: line, allowedThread: 0)
    }

    /// For a closure of the main actor.
    static func mainThread(_ label: String?, _ fileID: StaticString, _ line: UInt) -> SourceOrigin {
        SourceOrigin(label: label, fileID: fileID, line: line, allowedThread: SystemCalls.mainThreadID)
    }

    var name: String { label ?? "\(fileID):\(line)" }
}
