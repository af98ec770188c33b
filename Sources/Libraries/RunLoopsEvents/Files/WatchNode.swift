// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

internal import RunLoops
internal import RunLoopsSystem

/// One directory or file of a watch tree, and the directories in it.
///
/// A node is the kernel's watch, and not a name: a directory that is moved keeps its node and takes everything below along. A node
/// without a watch stands for a name at which the tree has still to look.
///
/// Paths are put together when they are asked for.
final class WatchNode {
    /// The name in the directory above; the path for a root, as the program gave it.
    private(set) var name: SystemText
    /// Where the system finds a root, whatever this process's directory is; `nil` for all other nodes.
    private let place: SystemText?
    private(set) weak var parent: WatchNode?
    private(set) var children: [SystemText: WatchNode] = [:]

    /// The kernel's number; `nil` while the tree has not looked yet.
    var watch: CInt?
    /// Whether an entry with this name was reported, or was there before the watch.
    var isTold: Bool
    /// Whether the entries that a look finds are reported.
    var tellsEntries: Bool
    /// Whether the tree has no use for the node any more.
    private(set) var isGone = false
    /// How many looks at the name have found nothing, without a record that would say why.
    var vainLooks = 0

    /// The records that may be older than the look at the directory, by their places in the kernel's queue.
    var window = 0..<0
    /// The entries that were reported when the directory was looked at; `nil` once no record is older than that look.
    var found: Set<SystemText>?
    /// The place in the queue of the last record that gave the node another name or directory.
    private(set) var movedAt = -1
    /// The directory of a recursive watch that has this root as an entry.
    var cover: (directory: WatchNode, name: SystemText)?

    /// A path of the program.
    init(root path: SystemText, at place: SystemText, watch: CInt) {
        name = path
        self.place = place
        self.watch = watch
        isTold = true
        tellsEntries = false
    }

    /// A name at which the tree has to look.
    init(_ name: SystemText, in parent: WatchNode, isTold: Bool, tellsEntries: Bool = true) {
        self.name = name
        place = nil
        self.parent = parent
        self.isTold = isTold
        self.tellsEntries = tellsEntries
        parent.children[name] = self
    }

    var isRoot: Bool { place != nil }

    /// The path of the program that leads to this node.
    var root: WatchNode {
        var node = self
        while let parent = node.parent { node = parent }
        return node
    }

    /// Whether this is `other` or a node below it.
    /// - Complexity: O(d) in the depth below the root.
    func isInside(_ other: WatchNode) -> Bool {
        var node = self
        while node !== other {
            guard let parent = node.parent else { return false }
            node = parent
        }
        return true
    }

    // MARK: Paths

    /// The path for the program: it begins as the program has begun it.
    /// - Complexity: O(d) in the depth below the root.
    func path(of entry: SystemText? = nil) -> [UInt8] { path(\.name, entry) }

    /// The path for the system.
    /// - Complexity: O(d) in the depth below the root.
    var systemPath: SystemText {
        // Put together from texts without zeroes.
        SystemText(prefixOf: path(\.startOfSystemPath, nil))
    }

    private var startOfSystemPath: SystemText { place ?? name }

    private func path(_ start: KeyPath<WatchNode, SystemText>, _ entry: SystemText?) -> [UInt8] {
        var names = entry.map { $0.isEmpty ? [] : [$0] } ?? []
        var node = self
        while let parent = node.parent {
            names.append(node.name)
            node = parent
        }
        var path = node[keyPath: start].bytes
        for name in names.reversed() {
            if path.last != UInt8(ascii: "/") { path.append(UInt8(ascii: "/")) }
            path += name.bytes
        }
        return path
    }

    // MARK: Changes

    /// Makes the node the entry `newName` of `newParent`, as the record at `place` in the kernel's queue says.
    ///
    /// - Precondition: `newParent` is not inside this node: no walk to the root would end.
    func move(to newName: SystemText, in newParent: WatchNode, at place: Int) {
        leaveParent()
        name = newName
        parent = newParent
        newParent.children[newName] = self
        movedAt = place
    }

    /// Ends the use of the node and of all below it; returns them.
    func end() -> [WatchNode] {
        leaveParent()
        var all = [self]
        var next = 0
        while next < all.count {
            let node = all[next]
            all += node.children.values
            node.children = [:]
            node.isGone = true
            next += 1
        }
        return all
    }

    /// Forgets the directories below.
    func forgetChildren() { children = [:] }

    private func leaveParent() {
        if let parent, parent.children[name] === self { parent.children[name] = nil }
        parent = nil
    }

    /// Whether a record that may be older than the look at this directory has moved the directory, or one above it: the look may have
    /// found another directory at the path.
    var isDoubtful: Bool {
        var node = self
        while !window.contains(node.movedAt) {
            guard let parent = node.parent else { return false }
            node = parent
        }
        return true
    }
}
