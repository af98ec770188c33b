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

    /// Returns the origin of a source whose closure may use the state of the thread that makes the source.
    static func here(_ label: String?, _ fileID: StaticString, _ line: UInt) -> SourceOrigin {
        SourceOrigin(label: label, fileID: fileID, line: line, allowedThread: SystemCalls.threadID)
    }

    /// Returns the origin of a source whose closure may run on any thread.
    static func anywhere(_ label: String?, _ fileID: StaticString, _ line: UInt) -> SourceOrigin {
        SourceOrigin(label: label, fileID: fileID, line: line, allowedThread: 0)
    }

    /// Returns the origin of a source whose closure runs on the main actor.
    static func mainThread(_ label: String?, _ fileID: StaticString, _ line: UInt) -> SourceOrigin {
        SourceOrigin(label: label, fileID: fileID, line: line, allowedThread: SystemCalls.mainThreadID)
    }

    var name: String { label ?? "\(fileID):\(line)" }
}
