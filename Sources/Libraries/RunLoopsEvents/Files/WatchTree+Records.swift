// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

internal import RunLoops
internal import RunLoopsLibC
internal import RunLoopsSystem

/// Applies the kernel's records to the tree, and reports what they mean.
extension WatchTree {
    /// Something that a record has moved.
    struct Move {
        let directory: WatchNode, name: SystemText
        let target: WatchNode, newName: SystemText
        let isDirectory: Bool
        let cookie: UInt32

        /// Whether the move was from or to an entry of `directory`.
        func concerns(_ directory: WatchNode) -> Bool { directory === self.directory || directory === target }

        /// Whether `other`, a later move, goes the way back.
        func isReversed(by other: Move) -> Bool {
            other.directory === target && other.name == newName && other.target === directory && other.newName == name
                && isNear(other)
        }

        /// Whether `other`, a later move, can be the second half of an exchange that begins with this move.
        ///
        /// Each rename of the system has the next cookie. Many cookies later it is another story.
        func isNear(_ other: Move) -> Bool { other.cookie &- cookie <= 64 }
    }

    /// What a batch of records means, and what is found in new directories.
    mutating func apply(_ records: [InotifyRecord]) {
        received += records.reduce(0) { $0 + $1.size }
        let records = skipUntrusted(records)
        let pairs = MovePairs(records)
        for (place, record) in records.enumerated() {
            if trustedFrom == nil {
                settle()
                if !pairs.isSecond(place) { apply(record, records, pairs.second(of: place)) }
            }
            applied += record.size
        }
        if trustedFrom == nil { settle() } else { watchAnewIfTrusted() }
        if trustedFrom == nil {
            look()
            checkIfQuiet()
        }
    }

    /// The queue was full, and records are missing behind this one.
    ///
    /// They may be missing at several places: the kernel does not queue a second such record before this one has been read, although the
    /// queue has had room in between. All that was queued until now is therefore of no use. It would move directories that a look
    /// has found since, and the record that moves them back may be missing.
    private mutating func overflowed() {
        trustedFrom = received + system.bytesWaiting
        (unlooked, unsettled, lastMoves) = ([], [], [])
    }

    /// Returns the records that can be trusted.
    private mutating func skipUntrusted(_ records: [InotifyRecord]) -> [InotifyRecord] {
        var rest = records[...]
        while let end = trustedFrom, applied < end, let record = rest.popFirst() {
            if record.has(IN_Q_OVERFLOW) { overflowed() }
            applied += record.size
        }
        watchAnewIfTrusted()
        return Array(rest)
    }

    private mutating func watchAnewIfTrusted() {
        guard let end = trustedFrom, applied >= end else { return }
        trustedFrom = nil
        watchAnew()
    }

    private mutating func apply(_ record: InotifyRecord, _ records: [InotifyRecord], _ secondPlace: Int?) {
        steps += 1
        if record.has(IN_Q_OVERFLOW) { return overflowed() }
        let second = secondPlace.map { records[$0] }
        guard let node = nodes[record.watch] else {
            // A watch that was given up meanwhile. What has left it may have come to another one.
            if let second { arrived(second) }
            return
        }
        if record.has(IN_IGNORED | IN_UNMOUNT | IN_DELETE_SELF | IN_MOVE_SELF) { return applyToSelf(record, node) }
        // The directory above also reports a directory's own changes.
        if record.name.isEmpty, !node.isRoot { return }
        if excludes(record.name) {
            // For the tree it was nowhere before: what moves away from an excluded name arrives.
            if let second {
                forgetMoves(of: node)
                arrived(second)
            }
            return
        }
        // A move to an excluded name is a departure.
        if record.has(IN_MOVED_FROM), let second, let secondPlace, let target = nodes[second.watch],
            !excludes(second.name)
        {
            let move = Move(
                directory: node, name: record.name, target: target, newName: second.name,
                isDirectory: record.has(IN_ISDIR), cookie: record.cookie)
            return apply(move, records[(secondPlace + 1)...])
        }
        if record.has(IN_CREATE | IN_DELETE | IN_MOVED_FROM | IN_MOVED_TO) { forgetMoves(of: node) }
        if record.has(IN_DELETE | IN_MOVED_FROM) {
            removed(record, node)
        } else if record.has(IN_CREATE | IN_MOVED_TO) {
            created(record, node)
        } else {
            tellContents(record, FileWatch.File(node.path(of: record.name), isDirectory: record.has(IN_ISDIR)))
        }
    }

    /// The second half of a move from a place that the tree does not know.
    private mutating func arrived(_ second: InotifyRecord) {
        guard let target = nodes[second.watch], !excludes(second.name) else { return }
        forgetMoves(of: target)
        created(second, target)
    }

    private mutating func applyToSelf(_ record: InotifyRecord, _ node: WatchNode) {
        if node.isRoot { return vanish(node) }
        // The directory above has reported a removal or a move before. It has not reported that a file system was unmounted, after which
        // another directory has the name.
        guard record.has(IN_IGNORED | IN_UNMOUNT), let parent = node.parent else { return }
        tell(.removed(FileWatch.File(node.path(), isDirectory: true)), .removed)
        parent.found?.remove(node.name)
        drop(node)
        lookLater(node.name, in: parent, isTold: false)
    }

    // MARK: Names

    private mutating func created(_ record: InotifyRecord, _ node: WatchNode) {
        let (name, isDirectory) = (record.name, record.has(IN_ISDIR))
        let file = FileWatch.File(node.path(of: name), isDirectory: isDirectory)
        // The look at the directory may have found the entry of this record, or one that has replaced it by now.
        let isFound = node.found?.insert(name).inserted == false
        if let old = node.children[name] {
            // A new directory does not replace another: the tree has looked at this very one, or a later record replaces it.
            let isInWindow = node.window.contains(applied)
            if isDirectory, record.has(IN_CREATE), isInWindow || old.window.contains(applied) {
                if isInWindow, !isFound { tell(.created(file), .created) }
                old.isTold = true
                return
            }
            if old.isTold { tell(.removed(FileWatch.File(file.pathBytes, isDirectory: true)), .removed) }
            drop(old)
            tell(.created(file), .created)
        } else if !isFound || record.has(IN_MOVED_TO) {
            tell(.created(file), .created)
        }
        if isDirectory, isRecursive { lookLater(name, in: node, isTold: true) }
    }

    private mutating func removed(_ record: InotifyRecord, _ node: WatchNode) {
        let isKnown = forget(record.name, in: node)
        if let gone = node.children[record.name] { drop(gone) }
        let file = FileWatch.File(node.path(of: record.name), isDirectory: record.has(IN_ISDIR))
        if isKnown { tell(.removed(file), .removed) }
        // After an exchange with a name outside the watched directories something has the name: the records are those of an arrival and a
        // departure.
        if record.has(IN_MOVED_FROM) { lookLater(record.name, in: node, isTold: false) }
    }

    /// Whether the program knows of an entry that is there no more.
    private func forget(_ name: SystemText, in node: WatchNode) -> Bool {
        let wasFound = node.found.map { _ in node.found?.remove(name) != nil } ?? true
        return wasFound && node.children[name]?.isTold != false
    }

    // MARK: Moves

    private mutating func apply(_ move: Move, _ later: ArraySlice<InotifyRecord>) {
        let first = lastMoves.last { $0.isReversed(by: move) }
        forgetMoves(of: move.directory)
        forgetMoves(of: move.target)
        if let first, !isMovedBack(move, later) { return exchanged(move, first) }
        lastMoves.removeAll { !$0.isNear(move) }
        lastMoves.append(move)
        let (old, new) = (move.directory.path(of: move.name), move.target.path(of: move.newName))
        let file = FileWatch.File(old, isDirectory: move.isDirectory)
        let newFile = FileWatch.File(new, isDirectory: move.isDirectory)
        let isInDoubt = move.directory.found != nil
        let isKnown = forget(move.name, in: move.directory)
        let child = move.directory.children[move.name]
        if let child, move.target.isInside(child) { return impossible(move, of: child, isKnown: isKnown) }
        let isFound = move.target.found?.insert(move.newName).inserted == false
        // An empty directory may have been replaced.
        let replaced = move.target.children[move.newName]
        if let replaced, replaced !== child { drop(replaced) }
        // A look has found what had the name later, and reported it: a directory, or a file in a directory that is still in doubt.
        let isSame = move.isDirectory ? !isRecursive || !isInDoubt || child != nil : child == nil
        // The event of a move has a text, which cannot name every file.
        let isWhole = isKnown && isSame && newFile.isText
        if isWhole {
            tell(.moved(file, to: newFile.path), .moved)
        } else {
            if isKnown { tell(.removed(FileWatch.File(old, isDirectory: move.isDirectory == isSame)), .removed) }
            if replaced?.isTold == true {
                tell(.removed(FileWatch.File(new, isDirectory: true)), .removed)
                tell(.created(newFile), .created)
            } else if isKnown || !isFound {
                tell(.created(newFile), .created)
            }
        }
        guard move.isDirectory, isRecursive else {
            if let child { drop(child) }
            return
        }
        if let child, isWhole || child.watch == nil {
            child.isTold = true
            child.move(to: move.newName, in: move.target, at: applied)
        } else {
            // Its entries are reported as new.
            if let child { drop(child) }
            lookLater(move.newName, in: move.target, isTold: true)
        }
    }

    /// A directory cannot be moved into itself: a look has found the two directories where later moves have brought them.
    ///
    /// The directory and all below it are looked at again. If the directory is elsewhere by now, a later record says so.
    private mutating func impossible(_ move: Move, of child: WatchNode, isKnown: Bool) {
        if isKnown { tell(.removed(FileWatch.File(child.path(), isDirectory: true)), .removed) }
        drop(child)
        lookLater(move.name, in: move.directory, isTold: false)
    }

    /// Forgets the moves that are no first halves of an exchange.
    ///
    /// The system exchanges two entries with the locks of both their directories: no other record of an entry of one of these comes
    /// between. Records of other directories do, if several threads move.
    private mutating func forgetMoves(of directory: WatchNode) { lastMoves.removeAll { $0.concerns(directory) } }

    /// Whether a directory was moved to another name and back.
    ///
    /// The kernel names the directory that a move has moved, if it is watched, right after the move.
    private func isMovedBack(_ move: Move, _ later: ArraySlice<InotifyRecord>) -> Bool {
        guard move.isDirectory, let watch = move.directory.children[move.name]?.watch else { return false }
        let next = later.prefix(8).first { $0.has(IN_MOVE_SELF | IN_MOVED_FROM) }
        return next.map { $0.has(IN_MOVE_SELF) && $0.watch == watch } ?? false
    }

    /// Two names may have been exchanged: the records are those of a move to another name and back.
    ///
    /// The first move was reported. A look finds what has the second name now.
    private mutating func exchanged(_ move: Move, _ firstMove: Move) {
        let (first, second) = (move.target, move.directory)
        let gone = FileWatch.File(second.path(of: move.name), isDirectory: firstMove.isDirectory)
        tell(.removed(gone), .removed)
        second.found?.remove(move.name)
        if let child = second.children[move.name] { drop(child) }
        tell(.created(FileWatch.File(first.path(of: move.newName), isDirectory: move.isDirectory)), .created)
        first.found?.insert(move.newName)
        if let child = first.children[move.newName] { drop(child) }
        if move.isDirectory, isRecursive { lookLater(move.newName, in: first, isTold: true) }
        lookLater(move.name, in: second, isTold: false)
    }

    // MARK: Contents

    private mutating func tellContents(_ record: InotifyRecord, _ file: FileWatch.File) {
        if record.has(IN_MODIFY) { tell(.modified(file), .modified) }
        if record.has(IN_CLOSE_WRITE) { tell(.written(file), .written) }
        if record.has(IN_ATTRIB) { tell(.attributes(file), .attributes) }
        if record.has(IN_OPEN) { tell(.opened(file), .opened) }
        if record.has(IN_ACCESS) { tell(.accessed(file), .accessed) }
    }
}
