// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

internal import CRunLoopsKernel
internal import RunLoops
internal import RunLoopsLibC
internal import RunLoopsSystem

/// The system calls of a watch tree: kernel watches, and looks at the directories at paths.
///
/// A class, so that tests can inherit from it and change files at any moment of a look.
class WatchSystem {
    struct Entry {
        let name: SystemText
        /// A link to a directory does not count as one.
        let isDirectory: Bool
    }

    /// The tree's share of an inotify descriptor; `nil` for a tree without a path.
    let user: WatchUser?

    init(_ user: WatchUser?) { self.user = user }

    /// - Returns: The number of the watch, or a negative error number.
    func add(_ path: SystemText, _ mask: UInt32) -> CInt { user?.add(path, mask) ?? -EBADF }

    func remove(_ watch: CInt) { user?.remove(watch) }

    /// How many bytes of records wait to be read: a mark in the kernel's queue, behind all that has happened.
    var bytesWaiting: Int { user?.bytesWaiting ?? 0 }

    /// - Returns: 1 for a directory, 0 for something else, or a negative error number.
    func kind(of path: SystemText) -> CInt { path.withCString { rl_is_directory($0) } }

    /// The entries of a directory.
    ///
    /// - Returns: What can be read, and the error number of what cannot; 0 for none.
    func entries(of path: SystemText) -> ([Entry], error: CInt) { Directory.entries(path) }
}

/// What is in a directory.
enum Directory {
    static func entries(_ path: SystemText) -> ([WatchSystem.Entry], error: CInt) {
        var entries: [WatchSystem.Entry] = []
        let result = read(path) { name, isDirectory in
            entries.append(WatchSystem.Entry(name: name, isDirectory: isDirectory))
            return true
        }
        return (entries, -result)
    }

    /// Whether nothing is in a directory that exists and may be read.
    static func isEmpty(_ path: SystemText) -> Bool {
        var isEmpty = true
        let result = read(path) { _, _ in
            isEmpty = false
            return false
        }
        return result == 0 && isEmpty
    }

    /// Calls `body` with each entry until it returns `false`; returns a negative error number, or 0.
    private static func read(_ path: SystemText, _ body: (SystemText, Bool) -> Bool) -> CInt {
        let directory = path.withCString { rl_directory_open($0) }
        if directory < 0 { return directory }
        defer { _ = rl_close(directory) }
        return DirectoryEntries.read(directory, body)
    }
}
