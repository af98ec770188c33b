// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

internal import RunLoops
internal import RunLoopsLibC
internal import RunLoopsSystem

/// Looking at directories by their paths.
extension WatchTree {
    /// Directories that were looked at together.
    struct Look {
        /// The place in the kernel's queue from which on no record is older than the look.
        var end = 0
        var nodes: [WatchNode] = []
        fileprivate var failures: [Failure] = []
        /// Whether the paths of roots still lead to them.
        fileprivate var leads: [ObjectIdentifier: Bool] = [:]
    }

    /// A name at which there was nothing to watch.
    fileprivate struct Failure {
        let node: WatchNode
        let code: CInt
        /// The node that the directory at the path belongs to.
        var other: WatchNode?
        var isRootLost = false
    }

    private var directoryMask: UInt32 { mask | UInt32(IN_ONLYDIR) | UInt32(IN_DONT_FOLLOW) }

    // MARK: Looking

    /// Looks at all names that are still to be looked at.
    mutating func look() {
        guard !unlooked.isEmpty else { return }
        let names = unlooked
        unlooked = []
        var look = Look()
        for node in names where !node.isGone && node.watch == nil {
            let root = node.root
            let isThere = look.leads[ObjectIdentifier(root)] ?? leads(to: root)
            look.leads[ObjectIdentifier(root)] = isThere
            if !isThere {
                look.failures.append(Failure(node: node, code: ENOENT, isRootLost: true))
            } else if isRecursive {
                watch(node, &look)
            } else {
                look.failures.append(Failure(node: node, code: ENOTDIR))
            }
        }
        finish(look)
    }

    /// Looks at all that is below directories that are watched.
    mutating func lookBelow(_ roots: [WatchNode]) {
        var look = Look()
        for root in roots {
            look.nodes.append(root)
            for child in list(root, &look) { watch(child, &look) }
        }
        finish(look)
    }

    /// Watches the directory with the name of a node, and every directory below.
    private mutating func watch(_ top: WatchNode, _ look: inout Look) {
        var next = [top]
        while let node = next.popLast() {
            steps += 1
            let watch = system.add(node.systemPath, directoryMask)
            if watch < 0 {
                look.failures.append(Failure(node: node, code: -watch))
            } else if let other = nodes[watch], other.isRoot {
                // A root that lies in another root stays a root.
                if let parent = node.parent { other.cover = (parent, node.name) }
                drop(node)
            } else if let other = nodes[watch] {
                look.failures.append(Failure(node: node, code: EEXIST, other: other))
            } else {
                node.watch = watch
                nodes[watch] = node
                look.nodes.append(node)
                if !node.isTold { tellCreated(node, isDirectory: true) }
                next += list(node, &look)
            }
        }
    }

    /// Reads a directory that is watched; returns the directories in it.
    ///
    /// It is watched first and read then: the kernel reports an entry that comes in between as well, and the program learns of the entry
    /// once.
    private mutating func list(_ node: WatchNode, _ look: inout Look) -> [WatchNode] {
        let (entries, error) = system.entries(of: node.systemPath)
        if error == ENOENT || error == ENOTDIR || error == ELOOP, !node.isRoot, let watch = node.watch {
            // Something else by now: the kernel reports that too.
            nodes[watch] = nil
            node.watch = nil
            system.remove(watch)
            look.nodes.removeLast()
            look.failures.append(Failure(node: node, code: ENOENT))
            return []
        }
        // A root may be a file.
        if error != 0, error != ENOTDIR || !node.isRoot { reportUnwatched(node, "open", error) }
        if node.tellsEntries { node.found = Set(minimumCapacity: entries.count) }
        var directories: [WatchNode] = []
        for entry in entries where !excludes(entry.name) {
            steps += 1
            if node.tellsEntries {
                node.found?.insert(entry.name)
                tell(.created(FileWatch.File(node.path(of: entry.name), isDirectory: entry.isDirectory)), .created)
            }
            if entry.isDirectory {
                directories.append(WatchNode(entry.name, in: node, isTold: true, tellsEntries: node.tellsEntries))
            }
        }
        return directories
    }

    // MARK: What the looks are worth

    private mutating func finish(_ look: Look) {
        var look = look
        look.end = received + system.bytesWaiting
        // Nothing has happened since the last record that was applied.
        let isInStep = look.end == applied
        if isInStep {
            for node in look.nodes { node.found = nil }
        } else {
            for node in look.nodes { node.window = applied..<look.end }
            unsettled.append(look)
        }
        for failure in look.failures { explain(failure, isInStep) }
    }

    /// Comes back to looks of which every record that may be older has been applied.
    mutating func settle() {
        while let look = unsettled.first, look.end <= applied {
            unsettled.removeFirst()
            for node in look.nodes where !node.isGone && node.window.upperBound == look.end {
                steps += 1
                node.found = nil
                if !node.isRoot, node.isDoubtful { lookAnew(node) }
            }
        }
    }

    // MARK: After an overflow

    /// Walks through the tree after an overflow, when nothing changes, and looks again at each directory that is not watched.
    ///
    /// Much was in doubt at once, and a directory that is missed stays silent for good. Changes during the walk do no harm: their records
    /// come later.
    /// - Complexity: O(n) in the entries, as the look after the overflow.
    mutating func checkIfQuiet() {
        guard let unwatched = unchecked, unlooked.isEmpty, unsettled.isEmpty, applied == received + system.bytesWaiting
        else { return }
        unchecked = nil
        let covers = roots.values.compactMap { $0.cover.map { $0.directory.path(of: $0.name) } }
        let known = unwatched.union(covers)
        var next = isRecursive ? Array(roots.values) : []
        while let node = next.popLast() {
            for entry in system.entries(of: node.systemPath).0 where entry.isDirectory && !excludes(entry.name) {
                steps += 1
                guard let child = node.children[entry.name] else {
                    if !known.contains(node.path(of: entry.name)) { lookLater(entry.name, in: node, isTold: false) }
                    continue
                }
                let found = system.add(child.systemPath, directoryMask)
                if found == child.watch {
                    next.append(child)
                } else {
                    if found >= 0, nodes[found] == nil { system.remove(found) }
                    lookAnew(child)
                }
            }
        }
        look()
    }

    /// Looks at a directory once more, as if it had been made now.
    mutating func lookAnew(_ node: WatchNode) {
        guard let parent = node.parent else { return }
        let file = FileWatch.File(node.path(), isDirectory: true)
        tell(.removed(file), .removed)
        tell(.created(file), .created)
        drop(node)
        lookLater(node.name, in: parent, isTold: true)
    }

    /// Has the tree look at a name after the records.
    mutating func lookLater(_ name: SystemText, in directory: WatchNode, isTold: Bool) {
        unlooked.append(WatchNode(name, in: directory, isTold: isTold))
    }

    /// Finds out why there was nothing to watch, and reports it if no record will.
    private mutating func explain(_ failure: Failure, _ isInStep: Bool) {
        let node = failure.node
        if node.isGone { return }
        switch failure.code {
        case ENOENT, ENOTDIR, EEXIST:
            // A record that the tree has not read yet says what has become of the name.
            guard isInStep else { return unlooked.append(node) }
        default: return giveUp(node, failure.code)
        }
        if failure.isRootLost { return giveUp(node, failure.code) }
        // Two places of one directory (a bind mount). If the other place is outdated, a record is about to say so.
        if let other = failure.other, system.add(other.systemPath, directoryMask) == other.watch {
            return giveUp(node, failure.code)
        }
        let kind = system.kind(of: node.systemPath)
        if kind == 1, isRecursive, failure.other == nil {
            let watch = system.add(node.systemPath, directoryMask)
            if watch >= 0, nodes[watch] == nil { system.remove(watch) }
            // It was made again, or removed again, since the look: a record says so, and has it looked at.
            if watch >= 0 || system.bytesWaiting > 0 { return unlooked.append(node) }
            return giveUp(node, failure.code)
        }
        if !node.isTold {
            if kind >= 0 { tellCreated(node, isDirectory: kind == 1) }
            if kind < 1 || !isRecursive { return drop(node) }
        }
        node.vainLooks += 1
        if node.vainLooks < 100 { return unlooked.append(node) }
        // Some file systems do not report what they remove.
        tell(.removed(FileWatch.File(node.path(), isDirectory: true)), .removed)
        drop(node)
    }

    private mutating func giveUp(_ node: WatchNode, _ code: CInt) {
        if !node.isTold { tellCreated(node, isDirectory: true) }
        reportUnwatched(node, "inotify_add_watch", code)
        drop(node)
    }

    /// Reports an entry that a look has found, and no record names.
    private mutating func tellCreated(_ node: WatchNode, isDirectory: Bool) {
        node.isTold = true
        node.parent?.found?.insert(node.name)
        tell(.created(FileWatch.File(node.path(), isDirectory: isDirectory)), .created)
    }
}
