// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import CRunLoopsKernel
import Glibc
import RunLoops
import RunLoopsSystem

@testable import RunLoopsEvents

/// A tree of names that is made of nothing but the reports of a watch.
final class ReplayedTree {
    private final class Node {
        let isDirectory: Bool
        var children: [[UInt8]: Node] = [:]
        init(isDirectory: Bool) { self.isDirectory = isDirectory }
    }

    private let root: [UInt8]
    private var top = Node(isDirectory: true)
    /// Events that have no place in a tree of names.
    private(set) var others: [FileWatch.Event] = []
    /// The last events, for a failure.
    private(set) var last: [String] = []

    init(_ root: String) { self.root = Array(root.utf8) }

    func apply(_ events: [FileWatch.Event]) {
        for event in events {
            switch event {
            case .created(let file):
                note("created", file, file.pathBytes)
                put(Node(isDirectory: file.isDirectory), at: file.pathBytes)
            case .removed(let file):
                note("removed", file, file.pathBytes)
                _ = take(file.pathBytes)
            case .moved(let file, let path):
                note("moved", file, Array(path.utf8))
                let node = take(file.pathBytes) ?? Node(isDirectory: file.isDirectory)
                _ = take(Array(path.utf8))
                put(node, at: Array(path.utf8))
            case .modified, .written, .attributes, .opened, .accessed: break
            case .vanished, .overflowed, .unwatched: others.append(event)
            }
        }
    }

    /// Forgets what was reported, and reads the directory.
    func readAnew(excluding excluded: [[UInt8]] = []) {
        top = Node(isDirectory: true)
        others = []
        let slash = UInt8(ascii: "/")
        // A directory is before what is in it.
        for name in RunLoopsEventsTests.names(below: root, excluding: excluded).sorted(by: { $0.count < $1.count }) {
            let isDirectory = name.last == slash
            put(Node(isDirectory: isDirectory), at: root + [slash] + (isDirectory ? name.dropLast() : name[...]))
        }
    }

    /// Begins the last events anew.
    func clearLast() { last = [] }

    private func note(_ kind: String, _ file: FileWatch.File, _ path: [UInt8]) {
        let text = FileNames.text(file.pathBytes.dropFirst(root.count))
        let other = path == file.pathBytes ? "" : " to " + FileNames.text(path.dropFirst(root.count))
        last.append("\(kind) \(text)\(file.isDirectory ? "/" : "")\(other)")
    }

    private func names(_ path: [UInt8]) -> [[UInt8]] {
        path.dropFirst(root.count).split(separator: UInt8(ascii: "/")).map(Array.init)
    }

    private func directory(of names: [[UInt8]]) -> Node? {
        var node: Node? = top
        for name in names.dropLast() { node = node?.children[name] }
        return node
    }

    private func put(_ node: Node, at path: [UInt8]) {
        let names = names(path)
        guard let name = names.last, let directory = directory(of: names) else { return }
        // A directory that is reported twice keeps its entries.
        if node.isDirectory, node.children.isEmpty, directory.children[name]?.isDirectory == true { return }
        directory.children[name] = node
    }

    private func take(_ path: [UInt8]) -> Node? {
        let names = names(path)
        guard let name = names.last, let directory = directory(of: names) else { return nil }
        return directory.children.removeValue(forKey: name)
    }

    /// Every name below the root, a directory's with a slash at the end.
    var names: Set<[UInt8]> {
        var all: Set<[UInt8]> = []
        func visit(_ node: Node, _ path: [UInt8]) {
            for (name, child) in node.children {
                let path = path + name + (child.isDirectory ? [UInt8(ascii: "/")] : [])
                all.insert(path)
                visit(child, path)
            }
        }
        visit(top, [])
        return all
    }
}

/// Every name below a directory, a directory's with a slash at the end.
func names(below path: [UInt8]) -> Set<[UInt8]> {
    var all: Set<[UInt8]> = []
    func visit(_ path: [UInt8], _ prefix: [UInt8]) {
        let directory = rl_directory_open(cText(path))
        guard directory >= 0 else { return }
        defer { close(directory) }
        _ = DirectoryEntries.read(directory) { name, isDirectory in
            all.insert(prefix + name.bytes + (isDirectory ? [UInt8(ascii: "/")] : []))
            if isDirectory {
                visit(path + [UInt8(ascii: "/")] + name.bytes, prefix + name.bytes + [UInt8(ascii: "/")])
            }
            return true
        }
    }
    visit(path, [])
    return all
}

/// The names of which no part is excluded.
func names(below path: [UInt8], excluding excluded: [[UInt8]]) -> Set<[UInt8]> {
    names(below: path).filter { name in
        !name.split(separator: UInt8(ascii: "/")).contains { excluded.contains(Array($0)) }
    }
}

extension FileWatch.Exclusion {
    /// Excludes names of bytes.
    init(_ names: [[UInt8]]) { self.init { names.contains($0) } }
}

extension WatchTree {
    mutating func insert(_ path: String) throws(RunLoop.SystemCallError) {
        try insert(SystemText(path, for: "inotify_add_watch"))
    }
}
