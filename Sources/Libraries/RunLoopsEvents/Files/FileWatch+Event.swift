// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

public import RunLoops

extension FileWatch {
    /// The kinds of changes that a ``FileWatch`` reports.
    public struct Changes: OptionSet, Hashable, Sendable {
        /// The bits.
        public let rawValue: UInt8

        /// Makes a set of the given bits.
        public init(rawValue: UInt8) { self.rawValue = rawValue }

        /// A file or directory was made, or moved here from elsewhere.
        public static var created: Changes { Changes(rawValue: 1) }
        /// A file or directory was removed, or moved elsewhere.
        public static var removed: Changes { Changes(rawValue: 2) }
        /// A file or directory was moved within the watched paths.
        public static var moved: Changes { Changes(rawValue: 4) }
        /// A file's contents were changed; one event for each write, which may wake the loop as often.
        ///
        /// For files that grow, such as logs; use a coalescing window if they grow fast.
        public static var modified: Changes { Changes(rawValue: 8) }
        /// A file that was open for writing was closed: its new contents are usually complete now.
        public static var written: Changes { Changes(rawValue: 16) }
        /// Mode, owner, dates, number of links or extended attributes were changed.
        public static var attributes: Changes { Changes(rawValue: 32) }
        /// A file was opened, or a directory listed.
        public static var opened: Changes { Changes(rawValue: 64) }
        /// A file was read.
        public static var accessed: Changes { Changes(rawValue: 128) }

        /// The changes to the names of files, and to their contents once these are complete: not each single write.
        public static var standard: Changes { [.created, .removed, .moved, .written] }
    }

    /// A file or directory that has changed.
    ///
    /// The names of files are bytes. Two files are equal if their bytes are: an `é` in one scalar and in two are two
    /// names, although both are equal as `String`.
    public struct File: Hashable, Sendable {
        /// The path, beginning with the watched path as the program gave it.
        ///
        /// Bytes that are not UTF-8 are shown as U+FFFD: such a path leads to no file. Use ``pathBytes`` to open the file.
        public let path: String
        /// Whether it is a directory.
        public let isDirectory: Bool
        /// The bytes of a path that is not UTF-8; `nil` for all other paths.
        private let notUTF8: [UInt8]?

        /// A file or directory at `path`.
        public init(path: String, isDirectory: Bool = false) {
            self.path = path
            self.isDirectory = isDirectory
            notUTF8 = nil
        }

        init(_ path: [UInt8], isDirectory: Bool) {
            let text = String(validating: path, as: UTF8.self)
            self.path = text ?? String(decoding: path, as: UTF8.self)
            self.isDirectory = isDirectory
            notUTF8 = text == nil ? path : nil
        }

        /// The path as the system has it, which need not be UTF-8; without a zero at the end.
        /// - Complexity: O(n) in the length of the path.
        public var pathBytes: [UInt8] { notUTF8 ?? Array(path.utf8) }

        /// Whether ``path`` has every byte.
        var isText: Bool { notUTF8 == nil }

        /// Whether both have the same bytes, and both or neither are directories.
        public static func == (one: File, other: File) -> Bool {
            one.isDirectory == other.isDirectory && one.notUTF8 == other.notUTF8
                && one.path.utf8.elementsEqual(other.path.utf8)
        }

        /// Hashes the bytes of the path.
        public func hash(into hasher: inout Hasher) {
            for byte in path.utf8 { hasher.combine(byte) }
            hasher.combine(isDirectory)
        }
    }

    /// One change that a ``FileWatch`` reports.
    ///
    /// A program that applies each event of a recursive watch to its list of names has the names of the tree: the
    /// removal of a directory removes all names below it, and a move takes all names below along and replaces the entry
    /// that had the new name.
    ///
    /// Two events are equal if they are of the same kind and the bytes of their paths are equal: see ``File``.
    public enum Event: Sendable {
        /// The file or directory was made, or moved here from elsewhere.
        ///
        /// The event does not say which. The kernel does, but not of an entry that is in a new directory before that
        /// can be watched, which the watch finds by listing: the answer would be missing in races. Expect both: a file
        /// that was moved here is usually complete, and no ``written(_:)`` follows.
        case created(File)
        /// The file or directory was removed, or moved elsewhere.
        case removed(File)
        /// The file or directory was moved or renamed, from the first path to the second.
        ///
        /// If the new path is not UTF-8, ``removed(_:)`` and ``created(_:)`` are reported in place of this event, whose
        /// text could not name the file. If two names were exchanged (`RENAME_EXCHANGE`), the move of the first is
        /// reported, and then what has each of the names now: the kernel's records are those of a move to another name
        /// and back. A file that is moved back at once to its earlier name is reported in the same way.
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
        /// A path given to the watch was removed, moved or unmounted.
        ///
        /// The path is no longer watched. Reported whatever changes the watch asks for.
        case vanished(String)
        /// Changes came faster than the program took them, and some are lost: look at everything again.
        ///
        /// The watch itself has already looked: every directory of a recursive watch is watched. Reported whatever
        /// changes the watch asks for.
        case overflowed
        /// A directory below a watched directory cannot be watched: `ENOSPC` if the user's limit (`max_user_watches`)
        /// is reached, `EACCES` if the directory may not be read, `ENOENT` if the watched path does not lead to the
        /// watched directory any more, since a directory above has another name, `EEXIST` if the directory is watched
        /// at another place of the tree, `EMFILE` if it is watched and could not be read for want of a descriptor.
        ///
        /// Reported at once, in the next turn of the loop, whatever changes the watch asks for; also of what is refused
        /// while the watch is made, or in ``FileWatch/insert(_:)``.
        case unwatched(String, RunLoop.SystemCallError)
    }
}

extension FileWatch.Event: Hashable {
    /// All that is in an event, with paths that are compared by their bytes.
    private struct Content: Hashable {
        var kind: Int
        var file: FileWatch.File?
        var path: FileWatch.File?
        var error: RunLoop.SystemCallError?
    }

    private var content: Content {
        switch self {
        case .created(let file): Content(kind: 0, file: file)
        case .removed(let file): Content(kind: 1, file: file)
        case .moved(let file, let path): Content(kind: 2, file: file, path: FileWatch.File(path: path))
        case .modified(let file): Content(kind: 3, file: file)
        case .written(let file): Content(kind: 4, file: file)
        case .attributes(let file): Content(kind: 5, file: file)
        case .opened(let file): Content(kind: 6, file: file)
        case .accessed(let file): Content(kind: 7, file: file)
        case .vanished(let path): Content(kind: 8, path: FileWatch.File(path: path))
        case .overflowed: Content(kind: 9)
        case .unwatched(let path, let error): Content(kind: 10, path: FileWatch.File(path: path), error: error)
        }
    }

    /// Whether both say the same of the same files, by the bytes of their paths.
    public static func == (one: FileWatch.Event, other: FileWatch.Event) -> Bool { one.content == other.content }

    /// Hashes the kind of the event and the bytes of its paths.
    public func hash(into hasher: inout Hasher) { hasher.combine(content) }
}
