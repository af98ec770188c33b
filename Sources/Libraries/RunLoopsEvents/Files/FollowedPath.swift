// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

internal import CRunLoopsKernel
internal import RunLoops
internal import RunLoopsLibC
internal import RunLoopsSystem

/// One path that is watched, whichever file is there, and whether its directories are there.
///
/// The kernel's records only say when to look; the file itself says what has changed. The file, and each directory and link on
/// the way, reports its own end. A directory's names are watched only where that is not enough: where the next name is missing.
struct FollowedPath {
    /// What is at the path.
    private struct Identity {
        let device: UInt64
        let number: UInt64
        let size: Int64

        /// - Returns: `nil` if nothing is there, or it cannot be seen.
        init?(_ path: SystemText) {
            var status = stat()
            guard path.withCString({ stat($0, &status) }) == 0 else { return nil }
            (device, number, size) = (UInt64(status.st_dev), UInt64(status.st_ino), Int64(status.st_size))
        }

        func isSameFile(as other: Identity?) -> Bool { device == other?.device && number == other?.number }
    }

    private static let start = SystemText(prefixOf: "/".utf8)
    private static let leaving = UInt32(IN_DELETE_SELF | IN_MOVE_SELF)
    /// Of a file or a link: when it is removed it loses a name now, and dies when nobody has it open any more.
    private static let ending = leaving | UInt32(IN_ATTRIB)
    /// Of a directory with an empty one on the way: that one, if it is open somewhere, does not tell that it is removed.
    private static let passing = leaving | UInt32(IN_DELETE | IN_MOVED_TO)
    private static let naming = leaving | UInt32(IN_CREATE | IN_DELETE | IN_MOVED_FROM | IN_MOVED_TO)

    /// The path, as the program gave it.
    let path: String
    /// Where the path leads, whatever this process's directory is.
    private let place: SystemText
    private let user: WatchUser
    private let fileMask: UInt32
    /// The directories of the path, from the first on, each with the name that the path has in it.
    private let directories: [(path: SystemText, name: SystemText)]
    private var names: [CInt: SystemText] = [:]
    /// The directory in which a name is missing, if it has others: emptied, it may be removed without a word.
    private var filled: CInt?
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
    init(_ path: String, _ user: WatchUser, _ moment: FileFollower.Moment) throws(RunLoop.SystemCallError) {
        self.path = path
        place = try SystemText(path, for: "inotify_add_watch").madeAbsolute()
        self.user = user
        fileMask = Self.ending | UInt32(moment == .written ? IN_CLOSE_WRITE : IN_MODIFY)
        var directories: [(path: SystemText, name: SystemText)] = []
        var directory = Self.start
        for name in place.names {
            directories.append((directory, name))
            directory.append(name)
        }
        self.directories = directories
        watchAnew()
        if let refusal { throw refusal }
        known = Identity(place)
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
            } else if record.watch == filled, record.has(IN_DELETE | IN_MOVED_FROM) {
                hasMoved = true
            }
        }
        return isTouched || hasMoved
    }

    /// Looks at the file; returns what has changed since the last look: usually one change, and no watch for it.
    mutating func look() -> [FileFollower.Change] {
        defer { (isTouched, hasMoved, hasDied) = (false, false, false) }
        let (old, oldRefusal, oldWatch) = (known, refusal, fileWatch)
        known = Identity(place)
        if hasMoved || known?.isSameFile(as: old) != true { watchSettled() }
        // The kernel has one watch for an inode. Another watch, and the old number: the file was removed, and its successor got its number.
        if oldWatch != nil, fileWatch != nil, oldWatch != fileWatch { hasDied = true }
        // A file that could not be watched was perhaps written meanwhile.
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

    /// Watches the path, and keeps the identity of the file that is watched.
    ///
    /// Another file may be renamed over the path between the watch and the look at the file. Its identity would then be kept beside the
    /// watch of the old file, whose end would be reported as a change of the new one. So both are done again until the look before the
    /// watch and the look after it find the same file.
    private mutating func watchSettled() {
        for _ in 0..<Self.maxTries {
            let before = known
            watchAnew()
            // After the watch: a later change comes with a record.
            known = Identity(place)
            if known == nil ? before == nil : known?.isSameFile(as: before) == true { return }
        }
    }

    /// More tries than renames can spoil by accident; a program that renames without a pause costs one look no more than these.
    private static let maxTries = 64

    private mutating func watchAnew() {
        var present: [CInt: SystemText] = [:]
        var way: [(watch: CInt, directory: SystemText)] = []
        // Those whose names need not be watched.
        var quiet: [CInt: SystemText] = [:]
        refusal = nil
        for (directory, name) in directories {
            watchLink(directory, Self.ending, &present)
            // All names before the next directory: it may come in between. Which are needed is known at the end.
            let watch = add(directory, Self.naming | UInt32(IN_ONLYDIR))
            if watch < 0 {
                refuse(-watch)
                // A directory that may be passed and not read is passed. The names above it report its end.
                if watch != -EACCES { break }
                way = []
                continue
            }
            present[watch] = name
            refusal = nil
            if let above = way.last, !removesSilently(above.directory) { quiet[above.watch] = above.directory }
            // If this is a directory above again, as after "..", its names are needed as those of the later one.
            quiet[watch] = nil
            way.append((watch, directory))
        }
        watchLink(place, fileMask, &present)
        let watch = add(place, fileMask)
        if watch < 0 { refuse(-watch) }
        filled = nil
        var emptied: CInt?
        if let last = way.popLast() {
            let isFile = watch >= 0 && add(place, fileMask | UInt32(IN_ONLYDIR)) < 0
            if isFile, !removesSilently(last.directory) {
                quiet[last.watch] = last.directory
            } else if Directory.isEmpty(last.directory) {
                emptied = way.last?.watch
            } else {
                filled = last.watch
            }
        }
        for (watch, directory) in quiet {
            let mask = watch == emptied ? Self.passing : Self.leaving
            let same = add(directory, mask | UInt32(IN_ONLYDIR))
            // Another directory has come, and the one that went has told.
            if same >= 0, present[same] == nil { present[same] = SystemText() }
        }
        let outdated = Set(names.keys).union(fileWatch.map { [$0] } ?? []).subtracting(present.keys).subtracting([watch]
        )
        for watch in outdated { user.remove(watch) }
        names = present
        // Records that ``note(_:)`` ignores are not queued. Two watches need the records of all names: that of a directory whose last entry
        // may be removed, and that of the followed file, which may be a directory.
        if let filled { present[filled] = nil }
        present[watch] = nil
        user.setNames(present)
        fileWatch = watch < 0 ? nil : watch
    }

    /// If the path is no link, the next call with it changes the mask of this very watch.
    private func watchLink(_ path: SystemText, _ mask: UInt32, _ present: inout [CInt: SystemText]) {
        let link = add(path, mask | UInt32(IN_DONT_FOLLOW))
        if link >= 0 { present[link] = SystemText() }
    }

    private func add(_ path: SystemText, _ mask: UInt32) -> CInt { user.add(path, mask) }

    private func removesSilently(_ directory: SystemText) -> Bool { directory.withCString { rl_removes_silently($0) } }

    private mutating func refuse(_ code: CInt) {
        if code == ENOENT || code == ENOTDIR { return }
        refusal = RunLoop.SystemCallError(call: "inotify_add_watch", code: code, subject: path)
    }
}
