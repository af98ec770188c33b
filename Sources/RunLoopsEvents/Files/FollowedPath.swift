// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

internal import CLinuxKernel
internal import RunLoops

#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#endif

/// One path that an inotify descriptor watches, whichever file is there, and whether its directories are there.
///
/// The kernel's records only say when to look; the file itself says what has changed. Names are watched in the directory
/// of the file, or, while that is not there, in the deepest directory of the path that is. Of every directory and link on the
/// way the kernel tells that it goes, and that the next one goes.
struct FollowedPath {
    /// What is at the path.
    private struct Identity {
        let device: UInt64
        let number: UInt64
        let size: Int64

        /// - Returns: `nil` if nothing is there, or it cannot be seen.
        init?(_ path: String) {
            var status = stat()
            guard stat(path, &status) == 0 else { return nil }
            (device, number, size) = (UInt64(status.st_dev), UInt64(status.st_ino), Int64(status.st_size))
        }

        func isSameFile(as other: Identity?) -> Bool { device == other?.device && number == other?.number }
    }

    private static let leaving = UInt32(IN_DELETE_SELF | IN_MOVE_SELF)
    /// Of a directory that the path passes through: its own end comes late if a removed file in it is open somewhere.
    private static let passing = leaving | UInt32(IN_DELETE | IN_MOVED_TO)
    private static let naming = leaving | UInt32(IN_CREATE | IN_DELETE | IN_MOVED_FROM | IN_MOVED_TO)

    let path: String
    private let file: Descriptor
    private let fileMask: UInt32
    /// The directories of the path, from the first on, each with the name that the path has in it.
    private let directories: [(path: String, name: String)]
    private var names: [CInt: String] = [:]
    private var fileWatch: CInt?
    private var known: Identity?
    /// Why the path is not watched at present; told once.
    private var refusal: RunLoop.SystemCallError?

    // What the records have said since the last look.
    private var isTouched = false
    private var hasMoved = false
    /// Whether the file that was watched is gone for good: the next file may get its number.
    private var hasDied = false

    /// - Throws: What the kernel refuses, unless something is only not there yet.
    init(_ path: String, _ file: Descriptor, _ moment: FileFollower.Moment) throws(RunLoop.SystemCallError) {
        self.path = path
        self.file = file
        fileMask = Self.leaving | UInt32(IN_ATTRIB | (moment == .written ? IN_CLOSE_WRITE : IN_MODIFY))
        var directories: [(path: String, name: String)] = []
        var directory = path.hasPrefix("/") ? "/" : "."
        for name in path.split(separator: "/") {
            directories.append((directory, String(name)))
            directory += "/\(name)"
        }
        self.directories = directories
        watchAnew()
        if let refusal { throw refusal }
        known = Identity(path)
    }

    /// Whether something was at the path at the last look.
    var isPresent: Bool { known != nil }

    // MARK: Records

    /// Takes what the kernel has to say; returns whether it is worth a look.
    mutating func note(_ records: [InotifyRecord]) -> Bool {
        for record in records {
            if record.has(IN_Q_OVERFLOW) {
                (isTouched, hasMoved) = (true, true)
            } else if record.watch == fileWatch {
                if record.has(IN_MODIFY | IN_CLOSE_WRITE) {
                    isTouched = true
                } else {
                    hasMoved = true
                }
                if record.has(IN_IGNORED) { (fileWatch, hasDied) = (nil, true) }
            } else if let name = names[record.watch], record.name.isEmpty || record.name == name {
                hasMoved = true
            }
        }
        return isTouched || hasMoved
    }

    /// Looks at the file; returns what has changed since the last look: usually one change, and no watch for it.
    mutating func look() -> [FileFollower.Change] {
        defer { (isTouched, hasMoved, hasDied) = (false, false, false) }
        let (old, oldRefusal, oldWatch) = (known, refusal, fileWatch)
        if hasMoved || Identity(path)?.isSameFile(as: old) != true { watchAnew() }
        // After the watch: a later change comes with a record. A file with another watch was perhaps written before it.
        known = Identity(path)
        let change = change(from: old, isTouched: isTouched || oldWatch != fileWatch)
        guard let refusal, refusal != oldRefusal else { return change.map { [$0] } ?? [] }
        return (change.map { [$0] } ?? []) + [.unwatched(refusal)]
    }

    private func change(from old: Identity?, isTouched: Bool) -> FileFollower.Change? {
        guard let known else { return old == nil ? nil : .vanished }
        guard let old else { return .appeared }
        if hasDied || !known.isSameFile(as: old) { return .replaced }
        if known.size < old.size { return .truncated }
        return isTouched ? .changed : nil
    }

    // MARK: Watches

    private mutating func watchAnew() {
        var present: [CInt: String] = [:]
        var above: String?
        refusal = nil
        for (directory, name) in directories {
            // A link first: if it is none, the next call changes the mask of this very watch.
            let link = rl_inotify_add(file.number, directory, Self.leaving | UInt32(IN_DONT_FOLLOW))
            if link >= 0 { present[link] = "" }
            // The names in this directory before the next directory: it may come in between.
            let watch = rl_inotify_add(file.number, directory, Self.naming | UInt32(IN_ONLYDIR))
            if watch < 0 {
                refuse(-watch)
                // A directory that may be passed and not read is passed.
                if watch == -EACCES { continue } else { break }
            }
            present[watch] = name
            refusal = nil
            if let above { _ = rl_inotify_add(file.number, above, Self.passing | UInt32(IN_ONLYDIR)) }
            above = directory
        }
        let watch = rl_inotify_add(file.number, path, fileMask)
        if watch < 0 { refuse(-watch) }
        let outdated = Set(names.keys).union(fileWatch.map { [$0] } ?? []).subtracting(present.keys).subtracting([watch]
        )
        // EINVAL: the kernel has released the watch before.
        for watch in outdated { _ = rl_inotify_remove(file.number, watch) }
        names = present
        fileWatch = watch < 0 ? nil : watch
    }

    private mutating func refuse(_ code: CInt) {
        if code == ENOENT || code == ENOTDIR { return }
        refusal = RunLoop.SystemCallError(call: "inotify_add_watch", code: code)
    }
}
