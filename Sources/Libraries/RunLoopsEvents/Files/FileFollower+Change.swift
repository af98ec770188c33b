// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

public import RunLoops

extension FileFollower {
    /// A change to the file at the path since the last report.
    public enum Change: Hashable, Sendable {
        /// A file has appeared at the path: read it from its beginning.
        case appeared
        /// Another file is at the path now: read it from its beginning.
        case replaced
        /// The same file may have new contents.
        case changed
        /// The same file is shorter than at the last report, such as a log that was copied and emptied.
        case truncated
        /// No file is at the path any more.
        case vanished
        /// The path cannot be watched now, and changes may be missed until something else on the path changes.
        ///
        /// `ENOSPC` if the user's limit (`max_user_watches`) is reached, `EACCES` if the file or its directory may not be
        /// read.
        case unwatched(RunLoop.SystemCallError)
    }

    /// When the contents of the file count as changed.
    public enum Moment: Hashable, Sendable {
        /// When a program that had opened the file for writing closes it: for settings.
        case written
        /// At each write: for logs.
        case modified
    }
}
