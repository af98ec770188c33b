// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

internal import CLinuxKernel
internal import LinuxLibC
internal import RunLoops

/// The files and directories that one inotify descriptor watches, kept up to date with what the descriptor reports.
struct WatchTree {
    private let file: Descriptor
    private let isRecursive: Bool
    private let changes: FileWatch.Changes
    private var roots: [String: WatchNode] = [:]
    private var nodes: [CInt: WatchNode] = [:]
    /// Entries of new directories that were reported because they were found there, and that the kernel may report
    /// again.
    private var found: Set<String> = []
    private var events: [FileWatch.Event] = []

    init(_ file: Descriptor, isRecursive: Bool, changes: FileWatch.Changes) {
        self.file = file
        self.isRecursive = isRecursive
        self.changes = changes
    }

    var paths: [String] { roots.keys.sorted() }
    /// How many files and directories are watched.
    var watchCount: Int { nodes.count }

    // MARK: Roots

    mutating func insert(_ path: String) throws(RunLoop.SystemCallError) {
        if roots[path] != nil { return }
        let watch = try check("inotify_add_watch", rl_inotify_add(file.number, path, mask))
        // One inode has one kernel watch: two paths to the inode could not be distinguished.
        if nodes[watch] != nil { throw RunLoop.SystemCallError(call: "inotify_add_watch", code: EEXIST) }
        let root = WatchNode(path, watch: watch, in: nil)
        nodes[watch] = root
        roots[path] = root
        if isRecursive { watchAll(below: root, telling: false) }
    }

    mutating func remove(_ path: String) {
        if let root = roots.removeValue(forKey: path) { stopWatching(root) }
    }

    // MARK: Watches

    private var mask: UInt32 {
        // A file that was removed and is still open is silent (EXCL_UNLINK).
        var bits = IN_DELETE_SELF | IN_MOVE_SELF | CInt(bitPattern: UInt32(IN_EXCL_UNLINK))
        if isRecursive || !changes.isDisjoint(with: [.created, .removed, .moved]) {
            // All four: the second half distinguishes a move from a removal.
            bits |= IN_CREATE | IN_DELETE | IN_MOVED_FROM | IN_MOVED_TO
        }
        if changes.contains(.modified) { bits |= IN_MODIFY }
        if changes.contains(.written) { bits |= IN_CLOSE_WRITE }
        if changes.contains(.attributes) { bits |= IN_ATTRIB }
        if changes.contains(.opened) { bits |= IN_OPEN }
        if changes.contains(.accessed) { bits |= IN_ACCESS }
        return UInt32(bitPattern: bits)
    }

    /// Watches every directory below `top`; all of `top` is known then.
    ///
    /// - Parameter telling: Whether the entries that are found are new, and so to be reported.
    private mutating func watchAll(below top: WatchNode, telling: Bool) {
        var waiting = [top]
        while let node = waiting.popLast() {
            // Watched first, listed then: the kernel reports an entry that comes in between twice, and the user learns
            // of it once.
            for entry in entries(ofDirectory: node.path) {
                let path = node.path(of: entry.name)
                if telling { tellFound(FileWatch.File(path: path, isDirectory: entry.isDirectory)) }
                if entry.isDirectory, let child = watch(entry.name, in: node) { waiting.append(child) }
            }
        }
    }

    /// Watches a directory that was found in another; `nil` if it cannot be watched.
    private mutating func watch(_ name: String, in parent: WatchNode) -> WatchNode? {
        let path = parent.path(of: name)
        let onlyDirectories = mask | UInt32(IN_ONLYDIR) | UInt32(IN_DONT_FOLLOW)
        let result = rl_inotify_add(file.number, path, onlyDirectories)
        if result < 0 {
            // Removed again, or something else by now: the kernel reports that too.
            if result != -ENOENT, result != -ENOTDIR {
                events.append(.unwatched(path, RunLoop.SystemCallError(call: "inotify_add_watch", code: -result)))
            }
            return nil
        }
        let node = nodes[result] ?? WatchNode(name, watch: result, in: parent)
        // A root that lies in another root stays a root.
        if roots[node.name] === node { return nil }
        nodes[result] = node
        node.move(to: name, in: parent)
        return node
    }

    /// Releases the kernel watches of a node and of all nodes below.
    private mutating func stopWatching(_ top: WatchNode) {
        for node in top.subtree {
            // EINVAL: the kernel has released the watch before.
            if nodes.removeValue(forKey: node.watch) != nil, !file.generation.isInherited {
                _ = rl_inotify_remove(file.number, node.watch)
            }
        }
        top.leaveParent()
    }

    /// After an overflow nothing is certain: watches what exists, and stops watching what does not.
    private mutating func watchAnew() {
        for (path, root) in roots {
            if rl_inotify_add(file.number, path, mask) != root.watch {
                vanish(root)
                continue
            }
            guard isRecursive else { continue }
            let before = root.subtree.dropFirst()
            for node in before { node.leaveParent() }
            watchAll(below: root, telling: false)
            let present = Set(root.subtree.map(\.watch))
            for node in before where !present.contains(node.watch) { stopWatching(node) }
        }
    }

    private mutating func vanish(_ root: WatchNode) {
        guard roots.removeValue(forKey: root.name) != nil else { return }
        events.append(.vanished(root.name))
        stopWatching(root)
    }

    // MARK: Changes

    /// What a batch of records means.
    mutating func apply(_ records: [InotifyRecord]) -> [FileWatch.Event] {
        let pairs = MovePairs(records)
        for (place, record) in records.enumerated() where !pairs.isSecond(place) {
            apply(record, pairs.second(of: place).map { records[$0] })
        }
        // An entry that the kernel may report again was in its queue before the directory was listed.
        if !found.isEmpty, rl_bytes_waiting(file.number) <= 0 { found = [] }
        defer { events = [] }
        return events
    }

    private mutating func apply(_ record: InotifyRecord, _ second: InotifyRecord?) {
        if record.has(IN_Q_OVERFLOW) {
            events.append(.overflowed)
            return watchAnew()
        }
        // A watch that was given up meanwhile.
        guard let node = nodes[record.watch] else { return }
        if record.has(IN_IGNORED | IN_UNMOUNT | IN_DELETE_SELF | IN_MOVE_SELF) { return applyToSelf(record, node) }
        // The directory above also reports a directory's own changes.
        if record.name.isEmpty, !node.isRoot { return }
        let file = FileWatch.File(path: node.path(of: record.name), isDirectory: record.has(IN_ISDIR))
        if record.has(IN_MOVED_FROM) {
            if let second, let target = nodes[second.watch] {
                moved(file, node, record.name, to: target, second.name)
            } else {
                removed(file, node, record.name)
            }
        } else if record.has(IN_DELETE) {
            removed(file, node, record.name)
        } else if record.has(IN_CREATE | IN_MOVED_TO) {
            created(file, node, record.name)
        } else {
            tellContents(record, file)
        }
    }

    private mutating func applyToSelf(_ record: InotifyRecord, _ node: WatchNode) {
        if node.isRoot { return vanish(node) }
        // The directory above reports where the entry went; here only the kernel watch has gone.
        guard record.has(IN_IGNORED) else { return }
        nodes[node.watch] = nil
        node.leaveParent()
    }

    private mutating func created(_ file: FileWatch.File, _ node: WatchNode, _ name: String) {
        if found.remove(file.path) == nil { tell(.created(file), .created) }
        if file.isDirectory, isRecursive, let new = watch(name, in: node) { watchAll(below: new, telling: true) }
    }

    private mutating func removed(_ file: FileWatch.File, _ node: WatchNode, _ name: String) {
        found = found.isEmpty ? [] : found.filter { $0 != file.path && !$0.hasPrefix(file.path + "/") }
        tell(.removed(file), .removed)
        if let gone = node.children[name] { stopWatching(gone) }
    }

    private mutating func moved(
        _ file: FileWatch.File, _ node: WatchNode, _ name: String, to target: WatchNode, _ newName: String
    ) {
        let path = target.path(of: newName)
        found.remove(path)
        tell(.moved(file, to: path), .moved)
        guard file.isDirectory, isRecursive else { return }
        // An empty directory may have been replaced.
        if let replaced = target.children[newName] { stopWatching(replaced) }
        if let child = node.children[name] {
            child.move(to: newName, in: target)
        } else if let new = watch(newName, in: target) {
            watchAll(below: new, telling: true)
        }
    }

    // MARK: Reporting

    private mutating func tellContents(_ record: InotifyRecord, _ file: FileWatch.File) {
        if record.has(IN_MODIFY) { tell(.modified(file), .modified) }
        if record.has(IN_CLOSE_WRITE) { tell(.written(file), .written) }
        if record.has(IN_ATTRIB) { tell(.attributes(file), .attributes) }
        if record.has(IN_OPEN) { tell(.opened(file), .opened) }
        if record.has(IN_ACCESS) { tell(.accessed(file), .accessed) }
    }

    private mutating func tellFound(_ file: FileWatch.File) {
        if found.insert(file.path).inserted { tell(.created(file), .created) }
    }

    private mutating func tell(_ event: FileWatch.Event, _ kind: FileWatch.Changes) {
        if changes.contains(kind) { events.append(event) }
    }
}
