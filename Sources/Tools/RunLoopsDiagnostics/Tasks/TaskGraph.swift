// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

/// The tasks of a program, and which of them waits for which.
struct TaskGraph {
    /// In ascending order of identifiers.
    let tasks: [TaskRecord]
    /// The positions in ``tasks``.
    private let positions: [UInt64: Int]
    private let members: [UInt64: [Int]]
    /// The positions of the children of each task, and of the tasks without a parent.
    let children: [[Int]]
    let roots: [Int]

    /// The maximum depth of the tree; a damaged program could have tasks that are each other's parents.
    static let deepest = 256

    init(_ records: [TaskRecord]) {
        let tasks = records.sorted { ($0.identifier, $0.address) < ($1.identifier, $1.address) }
        let positions = Dictionary(
            tasks.enumerated().map { ($0.element.address, $0.offset) }, uniquingKeysWith: { first, _ in first })
        self.tasks = tasks
        self.positions = positions
        members = Dictionary(grouping: tasks.indices.filter { tasks[$0].group != nil }) { tasks[$0].group ?? 0 }

        var children = [[Int]](repeating: [], count: tasks.count)
        var roots: [Int] = []
        // A task is created after its parent, and has a higher identifier. Anything else would be a circle.
        for (index, task) in tasks.enumerated() {
            if let parent = task.parent.flatMap({ positions[$0] }), parent < index {
                children[parent].append(index)
            } else {
                roots.append(index)
            }
        }
        (self.children, self.roots) = (children, roots)
    }

    /// Returns the position of a task that another one waits for.
    func position(of address: UInt64, identifier: UInt64) -> Int? {
        positions[address].flatMap { tasks[$0].identifier == identifier ? $0 : nil }
    }

    /// Returns the positions of the tasks in the group of a task that are not complete.
    func members(of group: UInt64, in owner: Int) -> [Int] {
        // A member is created after its owner. An older one was a member of another group that had the address.
        (members[group] ?? []).filter {
            $0 > owner && tasks[$0].parent == tasks[owner].address && tasks[$0].state != .complete
        }
    }

    /// Returns the positions of the tasks that a task waits for.
    func successors(of index: Int) -> [Int] {
        switch tasks[index].wait {
        case .task(let address, let identifier): position(of: address, identifier: identifier).map { [$0] } ?? []
        case .group(let group): members(of: group, in: index)
        default: []
        }
    }

    /// Returns the rings of tasks that wait for each other, each from its task with the lowest identifier on.
    ///
    /// A task that waits for a group waits for all tasks in it: it cannot leave the group before.
    ///
    /// - Returns: At least one ring of each set of tasks that wait for each other, and each task in one ring at most.
    /// - Complexity: O(n) in the tasks.
    func rings() -> [[Int]] {
        enum Mark { case new, onPath, done }
        var marks = [Mark](repeating: .new, count: tasks.count)
        var rings: [[Int]] = []
        for start in tasks.indices where marks[start] == .new {
            // A path, and for each task on it those that it waits for and that were not followed yet.
            var path = [start]
            var pending = [successors(of: start)]
            marks[start] = .onPath
            while let last = path.last {
                guard let next = pending[path.count - 1].popLast() else {
                    marks[last] = .done
                    path.removeLast()
                    pending.removeLast()
                    continue
                }
                switch marks[next] {
                case .done: break
                case .new:
                    marks[next] = .onPath
                    path.append(next)
                    pending.append(successors(of: next))
                case .onPath:
                    guard let first = path.lastIndex(of: next) else { continue }
                    let ring = path[first...]
                    rings.append(Self.turned(Array(ring)))
                    for task in ring { marks[task] = .done }
                    path.removeSubrange(first...)
                    pending.removeSubrange(first...)
                }
            }
        }
        return rings.sorted { $0[0] < $1[0] }
    }

    /// Returns the ring from its lowest position on.
    private static func turned(_ ring: [Int]) -> [Int] {
        let least = ring.indices.min { ring[$0] < ring[$1] } ?? 0
        return Array(ring[least...] + ring[..<least])
    }
}
