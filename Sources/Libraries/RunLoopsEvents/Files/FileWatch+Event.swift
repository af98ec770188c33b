// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

public import RunLoops

extension FileWatch {
    /// The kinds of changes that a ``FileWatch`` reports.
    public struct Changes: OptionSet, Hashable, Sendable {
        /// The bits.
        public let rawValue: UInt8

        /// A set of the given bits.
        public init(rawValue: UInt8) { self.rawValue = rawValue }

        /// A file or directory was made, or moved here from elsewhere.
        public static var created: Changes { Changes(rawValue: 1) }
        /// A file or directory was removed, or moved elsewhere.
        public static var removed: Changes { Changes(rawValue: 2) }
        /// A file or directory was moved within the watched paths.
        public static var moved: Changes { Changes(rawValue: 4) }
        /// A file's contents were changed; one event for each write, which may wake the loop as often.
        ///
        /// For what is growing, such as a log; with a coalescing window if the growth is fast.
        public static var modified: Changes { Changes(rawValue: 8) }
        /// A file that was open for writing was closed: its new contents are usually complete now.
        public static var written: Changes { Changes(rawValue: 16) }
        /// Mode, owner, dates, number of links or extended attributes were changed.
        public static var attributes: Changes { Changes(rawValue: 32) }
        /// A file was opened, or a directory listed.
        public static var opened: Changes { Changes(rawValue: 64) }
        /// A file was read.
        public static var accessed: Changes { Changes(rawValue: 128) }

        /// What changes the names of files, and their contents once these are complete: not each single write.
        public static var standard: Changes { [.created, .removed, .moved, .written] }
    }

    /// A file or directory that something happened to.
    public struct File: Hashable, Sendable {
        /// The path, beginning with the watched path as the program gave it.
        public let path: String
        /// Whether it is a directory.
        public let isDirectory: Bool

        /// A file or directory at `path`.
        public init(path: String, isDirectory: Bool = false) {
            self.path = path
            self.isDirectory = isDirectory
        }
    }

    /// One change that a ``FileWatch`` reports.
    public enum Event: Hashable, Sendable {
        /// The file or directory was made, or moved here from elsewhere.
        ///
        /// The event does not say which. The kernel does, but not of an entry that is in a new directory before that
        /// can be watched, which the watch finds by listing: the answer would be missing in races. Expect both: a file
        /// that was moved here is usually complete, and no ``written(_:)`` follows.
        case created(File)
        /// The file or directory was removed, or moved elsewhere.
        case removed(File)
        /// The file or directory was moved or renamed, from the first path to the second.
        case moved(File, to: String)
        /// The file's contents were changed.
        case modified(File)
        /// A program that could write to the file has closed it.
        case written(File)
        /// The attributes of the file or directory were changed.
        case attributes(File)
        /// The file or directory was opened.
        case opened(File)
        /// The file was read.
        case accessed(File)
        /// A path given to the watch does not exist any more: it was removed, moved or unmounted.
        ///
        /// The path is not watched any more. Reported whatever changes the watch asks for.
        case vanished(String)
        /// Changes came faster than the program took them, and some are lost: look at everything again.
        ///
        /// The watch itself has already looked: every directory of a recursive watch is watched. Reported whatever
        /// changes the watch asks for.
        case overflowed
        /// A directory below a watched directory cannot be watched: `ENOSPC` if the user's limit (`max_user_watches`)
        /// is reached, `EACCES` if the directory may not be read.
        ///
        /// Reported whatever changes the watch asks for.
        case unwatched(String, RunLoop.SystemCallError)
    }
}
