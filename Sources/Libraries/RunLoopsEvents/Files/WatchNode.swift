// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

internal import CLinuxKernel

/// One watched directory or file, and the watched directories in it.
///
/// Paths are put together when they are asked for: a directory that is moved takes everything below along.
final class WatchNode {
    /// The path for a root, the name for all other nodes.
    var name: String
    var watch: CInt
    weak var parent: WatchNode?
    var children: [String: WatchNode] = [:]

    init(_ name: String, watch: CInt, in parent: WatchNode?) {
        self.name = name
        self.watch = watch
        self.parent = parent
    }

    var isRoot: Bool { parent == nil }

    /// - Complexity: O(d) in the depth below the root.
    var path: String { parent?.path(of: name) ?? name }

    func path(of entry: String) -> String {
        if entry.isEmpty { return path }
        let path = self.path
        return path.hasSuffix("/") ? path + entry : path + "/" + entry
    }

    /// Makes the node the entry `newName` of `newParent`.
    func move(to newName: String, in newParent: WatchNode) {
        leaveParent()
        name = newName
        parent = newParent
        newParent.children[newName] = self
    }

    func leaveParent() {
        // The name may belong to a newer directory by now.
        if let parent, parent.children[name] === self { parent.children[name] = nil }
    }

    /// The node and all below it.
    var subtree: [WatchNode] {
        var all = [self]
        var next = 0
        while next < all.count {
            all += all[next].children.values
            next += 1
        }
        return all
    }
}

/// The entries of a directory that exists and may be read; a link to a directory does not count as a directory.
func entries(ofDirectory path: String) -> [(name: String, isDirectory: Bool)] {
    guard let directory = rl_directory_open(path) else { return [] }
    defer { rl_directory_close(directory) }
    var entries: [(String, Bool)] = []
    withUnsafeTemporaryAllocation(of: CChar.self, capacity: Int(RL_NAME_ROOM)) { name in
        let text = name.baseAddress.unsafelyUnwrapped
        var isDirectory = false
        while rl_directory_next(directory, text, &isDirectory) > 0 {
            entries.append((String(cString: text), isDirectory))
        }
    }
    return entries
}

/// Whether nothing is in a directory that exists and may be read.
func isEmpty(directory path: String) -> Bool {
    guard let directory = rl_directory_open(path) else { return false }
    defer { rl_directory_close(directory) }
    return withUnsafeTemporaryAllocation(of: CChar.self, capacity: Int(RL_NAME_ROOM)) { name in
        var isDirectory = false
        return rl_directory_next(directory, name.baseAddress.unsafelyUnwrapped, &isDirectory) == 0
    }
}
