// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

public import RunLoops

extension FileFollower {
    /// What has happened to the file at the path since the last report.
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
        /// The path cannot be watched now, and changes may be missed until something else on the way changes.
        ///
        /// `ENOSPC` if the user's limit (`max_user_watches`) is reached, `EACCES` if the file or its directory may not be
        /// read.
        case unwatched(RunLoop.SystemCallError)
    }

    /// When the contents of the file count as changed.
    public enum Moment: Hashable, Sendable {
        /// A program that could write to the file has closed it: for settings.
        case written
        /// With each write: for logs.
        case modified
    }
}
