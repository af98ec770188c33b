public import RunLoops

extension FileWatch {
    /// The kinds of changes that a ``FileWatch`` tells.
    public struct Changes: OptionSet, Hashable, Sendable {
        /// The bits.
        public let rawValue: UInt8

        /// A set of the given bits.
        public init(rawValue: UInt8) { self.rawValue = rawValue }

        /// A file or directory was made, or moved here from elsewhere.
        public static var created: Changes { Changes(rawValue: 1) }
        /// A file or directory was removed, or moved elsewhere.
        public static var removed: Changes { Changes(rawValue: 2) }
        /// A file or directory was moved within what is watched.
        public static var moved: Changes { Changes(rawValue: 4) }
        /// A file's contents were changed; once a write.
        public static var modified: Changes { Changes(rawValue: 8) }
        /// A file that was open for writing was closed: in general its new contents are whole now.
        public static var written: Changes { Changes(rawValue: 16) }
        /// Mode, owner, dates, number of links or extended attributes were changed.
        public static var attributes: Changes { Changes(rawValue: 32) }
        /// A file was opened, or a directory listed.
        public static var opened: Changes { Changes(rawValue: 64) }
        /// A file was read.
        public static var accessed: Changes { Changes(rawValue: 128) }

        /// What changes the names and contents of files.
        public static var standard: Changes { [.created, .removed, .moved, .modified, .written] }
    }

    /// A file or directory that something happened to.
    public struct File: Hashable, Sendable {
        /// The path, beginning with the path that is watched as it was given.
        public let path: String
        /// Whether it is a directory.
        public let isDirectory: Bool

        /// A file or directory at `path`.
        public init(path: String, isDirectory: Bool = false) {
            self.path = path
            self.isDirectory = isDirectory
        }
    }

    /// One change that a ``FileWatch`` tells.
    public enum Event: Hashable, Sendable {
        /// It was made, or moved here from elsewhere.
        case created(File)
        /// It was removed, or moved elsewhere.
        case removed(File)
        /// It was moved or given another name, from the first path to the second.
        case moved(File, to: String)
        /// Its contents were changed.
        case modified(File)
        /// It was closed by one who could write to it.
        case written(File)
        /// Its attributes were changed.
        case attributes(File)
        /// It was opened.
        case opened(File)
        /// It was read.
        case accessed(File)
        /// A path given to the watch is not there any more: it was removed, moved or unmounted.
        ///
        /// It is watched no longer. Reported whatever was asked for.
        case vanished(String)
        /// Changes came faster than they were taken, and some are lost: look at everything again.
        ///
        /// The watch itself has done so: every directory of a recursive one is watched. Reported whatever was asked for.
        case overflowed
        /// A directory below a watched one cannot be watched: `ENOSPC` if the user's limit (`max_user_watches`) is
        /// reached, `EACCES` if it may not be read.
        ///
        /// Reported whatever was asked for.
        case unwatched(String, RunLoop.SystemCallError)
    }
}
