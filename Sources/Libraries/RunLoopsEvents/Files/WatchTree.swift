// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

internal import RunLoops
internal import RunLoopsLibC
internal import RunLoopsSystem

/// The files and directories that one inotify descriptor watches, kept up to date with what the descriptor reports.
///
/// The kernel's records describe the past, in the order in which it happened; a look at a path finds the present. So the tree first applies
/// the records, which gives each directory the place that it had when the last of them was written, and then looks at the directories
/// that it does not watch yet. Changes meanwhile are in records that the tree reads later, and the places of these in the queue say which of
/// them may be older than the look. If one of these moves a directory on the way, the look may have found another directory, and the tree
/// looks again (`WatchTree+Looks.swift`).
struct WatchTree {
    let system: WatchSystem
    let isRecursive: Bool
    let changes: FileWatch.Changes
    /// The names of entries that have no node, and of which nothing is reported.
    let exclusion: FileWatch.Exclusion
    private(set) var roots: [SystemText: WatchNode] = [:]
    /// The nodes that are watched, by the kernel's numbers.
    var nodes: [CInt: WatchNode] = [:]
    /// The names at which the tree has to look.
    var unlooked: [WatchNode] = []
    /// The looks that some records may be older than, the oldest look first.
    var unsettled: [Look] = []
    /// The last records that moved something, and that may be the first halves of exchanges.
    var lastMoves: [Move] = []
    /// After an overflow, the place in the kernel's queue from which on no record is missing; `nil` if none is missing.
    var trustedFrom: Int?
    /// How many bytes of the kernel's queue the tree has read, and how many of these it has applied.
    var received = 0
    var applied = 0
    /// After an overflow and until the tree has been checked, the directories that were reported as not watched.
    var unchecked: Set<[UInt8]>?
    /// The events that were not reported yet.
    private(set) var events: [FileWatch.Event] = []
    /// How many nodes, entries and events the tree has gone through: a measure of its work for tests.
    var steps = 0

    init(
        _ system: WatchSystem, isRecursive: Bool, changes: FileWatch.Changes,
        excluding exclusion: FileWatch.Exclusion = .none
    ) {
        self.system = system
        self.exclusion = exclusion
        self.isRecursive = isRecursive
        self.changes = changes
    }

    /// The paths of the program, in the order of their bytes.
    var paths: [String] { roots.keys.sorted { $0.bytes.lexicographicallyPrecedes($1.bytes) }.map(\.decoded) }
    /// How many files and directories are watched.
    var watchCount: Int { nodes.count }
    var hasEvents: Bool { !events.isEmpty }

    mutating func takeEvents() -> [FileWatch.Event] {
        defer { events = [] }
        return events
    }

    // MARK: Roots

    mutating func insert(_ path: SystemText) throws(RunLoop.SystemCallError) {
        if roots[path] != nil { return }
        // A program may go to another directory, and the path would lead elsewhere.
        let place = try path.madeAbsolute()
        let watch = try check("inotify_add_watch", system.add(place, mask), of: path.decoded)
        // One inode has one kernel watch: two paths to the inode could not be distinguished.
        if nodes[watch] != nil {
            throw RunLoop.SystemCallError(call: "inotify_add_watch", code: EEXIST, subject: path.decoded)
        }
        let root = WatchNode(root: path, at: place, watch: watch)
        nodes[watch] = root
        roots[path] = root
        if isRecursive { lookBelow([root]) }
    }

    mutating func remove(_ path: SystemText) {
        guard let root = roots.removeValue(forKey: path) else { return }
        drop(root)
        uncover(root, isTold: true)
        look()
    }

    mutating func vanish(_ root: WatchNode) {
        guard roots.removeValue(forKey: root.name) != nil else { return }
        report(.vanished(root.name.decoded))
        drop(root)
        uncover(root, isTold: false)
    }

    /// Watches the directory of a former root as a part of the recursive watch that it lies in.
    private mutating func uncover(_ root: WatchNode, isTold: Bool) {
        guard let cover = root.cover, !cover.directory.isGone, cover.directory.children[cover.name] == nil else {
            return
        }
        // The entries of a path that the program removes from the watch are not new.
        unlooked.append(WatchNode(cover.name, in: cover.directory, isTold: isTold, tellsEntries: !isTold))
    }

    /// Whether the path of a root still leads to it: a directory above may have got another name.
    func leads(to root: WatchNode) -> Bool {
        let found = system.add(root.systemPath, mask)
        if found == root.watch { return true }
        if found >= 0, nodes[found] == nil { system.remove(found) }
        return false
    }

    // MARK: Watches

    /// Whether an entry with that name is left out; the empty name is a node's own.
    func excludes(_ name: SystemText) -> Bool { !name.isEmpty && exclusion.contains(name.bytes) }

    var mask: UInt32 {
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

    /// Ends the use of a node and of all below it, and releases their kernel watches.
    mutating func drop(_ top: WatchNode) {
        for node in top.end() {
            steps += 1
            guard let watch = node.watch, nodes[watch] === node else { continue }
            nodes[watch] = nil
            system.remove(watch)
        }
    }

    /// After an overflow nothing is certain: watches what exists, and stops watching what does not.
    ///
    /// The program learns of the overflow now, and not before: what it finds afterwards is watched.
    mutating func watchAnew() {
        report(.overflowed)
        for root in Array(roots.values) where !leads(to: root) { vanish(root) }
        let old = nodes
        nodes = [:]
        for root in roots.values {
            root.forgetChildren()
            root.cover = nil
            if let watch = root.watch { nodes[watch] = root }
        }
        for node in old.values where !node.isRoot { _ = node.end() }
        (unlooked, unsettled, lastMoves, unchecked) = ([], [], [], [])
        // The kernel gives a directory that it watches its old number.
        if isRecursive { lookBelow(Array(roots.values)) }
        for watch in old.keys where nodes[watch] == nil { system.remove(watch) }
    }

    // MARK: Reporting

    mutating func tell(_ event: FileWatch.Event, _ kind: FileWatch.Changes) {
        if changes.contains(kind) { report(event) }
    }

    /// Reports an event, whatever changes the program asks for.
    mutating func report(_ event: FileWatch.Event) {
        steps += 1
        events.append(event)
    }

    /// Reports at once that a directory is not watched, and why.
    mutating func reportUnwatched(_ node: WatchNode, _ call: String, _ code: CInt) {
        unchecked?.insert(node.path())
        let path = String(decoding: node.path(), as: UTF8.self)
        report(.unwatched(path, RunLoop.SystemCallError(call: call, code: code)))
    }
}
