// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

extension TaskReport.Failure: CustomStringConvertible {
    /// The reason in words that follow "process 12".
    package var description: String {
        switch self {
        case .noProcess: "does not exist"
        case .notPermitted:
            "cannot be read: it must be of the same user, and the system must permit that it is traced "
                + "(/proc/sys/kernel/yama/ptrace_scope)"
        case .ended: "has ended, or executes another program now"
        case .noRuntime:
            "has no Swift concurrency that can be found: it is not a Swift program, or it is linked statically and its "
                + "symbols were removed"
        case .unknownLayout(let version):
            "has a Swift runtime that stores tasks in a way that is not known: version \(version) of the layout"
        case .contradiction:
            "has a Swift runtime that does not store tasks as its version of the layout says"
        case .noCore: "is no core file of a 64-bit process, or cannot be read"
        }
    }
}

// MARK: JSON

extension TaskReport {
    /// The report as an object of JSON; tasks are named by their ids.
    package var document: JSON {
        [
            "process": .integer(Int64(process)), "program": .string(program), "layout": .integer(Int64(layout)),
            "rings": .array(rings.map { ring in .array(ring.map { id($0) }) }),
            "tasks": .array(tasks.map(object)), "isCut": isCut ? .bool(true) : nil,
            "retries": .integer(Int64(retries)), "bytes": .integer(Int64(clamping: bytes)),
        ]
    }

    /// The report and its lines, as an inspected process sends them.
    var answer: JSON { ["report": document, "lines": .array(lines.map { .string($0) })] }

    private func id(_ index: Int) -> JSON { .integer(Int64(clamping: tasks[index].id)) }

    private func object(_ task: Task) -> JSON {
        [
            "id": .integer(Int64(clamping: task.id)), "name": task.name.map { .string($0) },
            "state": .string(task.state), "isCancelled": .bool(task.isCancelled),
            "priority": .integer(Int64(task.priority)), "parent": task.parent.map { id($0) },
            "waitsFor": task.wait.map(object), "waitName": task.waitName.map { .string($0) },
            "stack": .array(task.stack.map { .string($0) }), "lines": lines(of: task),
            "isSleepTimer": task.isSleepTimer ? .bool(true) : nil,
            "isSettled": task.isSettled ? nil : .bool(false),
        ]
    }

    /// Returns the lines of a task's functions as an array of JSON; `nil` if none is known.
    private func lines(of task: Task) -> JSON? {
        let lines = task.addresses.map { sourceLines[$0] }
        guard lines.contains(where: { $0 != nil }) else { return nil }
        return .array(
            lines.map { line -> JSON in
                guard let line else { return .null }
                return ["file": .string(line.file), "line": .integer(Int64(line.line))]
            })
    }

    private func object(_ wait: Wait) -> JSON {
        switch wait {
        case .task(let index): ["kind": "task", "task": index.map { id($0) }]
        case .group(let members): ["kind": "group", "tasks": .array(members.map { id($0) })]
        case .continuation: ["kind": "continuation"]
        case .sleep: ["kind": "sleep"]
        case .actor(let name): ["kind": "actor", "name": .string(name)]
        case .mainActor: ["kind": "mainActor"]
        case .executor: ["kind": "executor"]
        case .unknown(let kind): ["kind": "unknown", "number": .integer(Int64(kind))]
        }
    }
}

// MARK: Text

extension TaskReport {
    /// The rings, then the tree of tasks as indented lines.
    ///
    /// Tasks that are complete are left out unless a task waits for them or is their child; so are the runtime's own for
    /// the end of a sleep. Of sisters that differ only in their ids, the first is described.
    package var lines: [String] {
        var lines = ringLines
        let shown = shownTasks()
        let rest = shown.lazy.filter { !$0 }.count
        lines.append("\(program), process \(process): \(Self.count(shown.count - rest, "task"))")
        if rest > 0 { lines[lines.count - 1] += ", and \(rest) that are complete or end a sleep" }
        if isCut { lines.append("There are more tasks than are read.") }
        append(roots, shown, depth: 0, to: &lines)
        return lines
    }

    /// A line for each ring of tasks that wait for each other.
    package var ringLines: [String] { rings.map(ringLine) }

    /// Returns the tasks with a name, with all that they wait for, directly or by others, and lines about them.
    ///
    /// Of tasks that wait for each other, the line about the ring comes first.
    package func chain(ofTasksNamed name: String) -> (tasks: [Int], lines: [String]) {
        var chain = tasks.indices.filter { tasks[$0].name == name && tasks[$0].state != "complete" }
        var known = Set(chain)
        var next = 0
        while next < chain.count, chain.count < Self.maxChainLength {
            let task = tasks[chain[next]]
            var others = task.children
            switch task.wait {
            case .task(let other?): others.append(other)
            case .group(let members): others += members
            default: break
            }
            chain += others.filter { tasks[$0].state != "complete" && known.insert($0).inserted }
            next += 1
        }
        let lines = rings.filter { !known.isDisjoint(with: $0) }.map(ringLine)
        let described = chain.flatMap {
            // The functions that the macro of a test makes have mangled names, and around them is the runner's own.
            ["\(self.name($0)): \(description(tasks[$0]))"]
                + stack(of: tasks[$0]).prefix { !$0.contains(".$s") }.map { "    \($0)" }
        }
        return (chain, lines + described)
    }

    /// The maximum number of tasks that are described as those that one waits for.
    private static let maxChainLength = 64

    private func shownTasks() -> [Bool] {
        var shown = tasks.map { $0.state != "complete" && !$0.isSleepTimer }
        for (index, task) in tasks.enumerated() where shown[index] {
            if case .task(let other?) = task.wait { shown[other] = true }
        }
        // From the last to the first: a child is behind its parent.
        for index in tasks.indices.reversed() where shown[index] {
            if let parent = tasks[index].parent { shown[parent] = true }
        }
        return shown
    }

    private func append(_ indices: [Int], _ shown: [Bool], depth: Int, to lines: inout [String]) {
        let indices = indices.filter { shown[$0] }
        let indent = String(repeating: "  ", count: depth)
        var next = 0
        while next < indices.count {
            let (index, first) = (indices[next], tasks[indices[next]])
            var end = next + 1
            while end < indices.count, isLeaf(index), isLeaf(indices[end]), isAlike(first, tasks[indices[end]]) {
                end += 1
            }
            let more = end - next > 1 ? " and \(Self.count(end - next - 1, "task")) like it" : ""
            lines.append("\(indent)\(name(index))\(more): \(description(first))")
            lines += stack(of: first).map { "\(indent)    \($0)" }
            if depth < TaskGraph.deepest { append(first.children, shown, depth: depth + 1, to: &lines) }
            next = end
        }
    }

    /// Returns the functions of a task, each with its source line if that is known.
    private func stack(of task: Task) -> [String] {
        zip(task.stack, task.addresses).map { name, address in
            sourceLines[address].map { "\(name) at \($0.text)" } ?? name
        }
    }

    private func isLeaf(_ index: Int) -> Bool { tasks[index].children.isEmpty }

    private func isAlike(_ one: Task, _ other: Task) -> Bool {
        one.name == other.name && one.state == other.state && one.isCancelled == other.isCancelled
            && one.priority == other.priority && one.wait == other.wait && one.stack == other.stack
            && one.isSettled == other.isSettled && one.waitName == other.waitName
            && (one.addresses == other.addresses || stack(of: one) == stack(of: other))
    }

    private func name(_ index: Int) -> String {
        "task \(tasks[index].id)" + (tasks[index].name.map { " \"\($0)\"" } ?? "")
    }

    private func description(_ task: Task) -> String {
        var parts = [task.state]
        if task.isCancelled { parts.append("cancelled") }
        switch task.priority {
        case 0x09: parts.append("background priority")
        case 0x11: parts.append("utility priority")
        case 0x19: parts.append("high priority")
        case 0, 0x15: break
        case let priority: parts.append("priority \(priority)")
        }
        if let wait = task.wait { parts.append("waits for \(task.waitName ?? description(wait))") }
        if !task.isSettled { parts.append("it changed while it was read") }
        return parts.joined(separator: ", ")
    }

    private func description(_ wait: Wait) -> String {
        switch wait {
        case .task(let index): index.map(name) ?? "a task that was not found"
        case .group(let members):
            members.isEmpty ? "its group" : "its group of \(Self.count(members.count, "task"))"
        case .continuation: "a continuation"
        case .sleep: "the end of a sleep"
        case .actor(let name): "the actor \(name)"
        case .mainActor: "the main actor"
        case .executor: "an executor"
        case .unknown(let kind): "something that is not known (\(kind))"
        }
    }

    private func ringLine(_ ring: [Int]) -> String {
        switch ring.count {
        case 1: return "\(name(ring[0])) waits for itself"
        case 2: return "\(name(ring[0])) and \(name(ring[1])) wait for each other"
        default:
            // A ring of many tasks is cut, and closes all the same.
            let middle = ring.dropFirst().prefix(20).map { "which waits for \(name($0))" }
            let more = ring.count > 21 ? ["which waits for \(ring.count - 21) more"] : []
            let begin = "\(name(ring[0])) waits for \(name(ring[1]))"
            return ([begin] + middle.dropFirst() + more + ["which waits for \(name(ring[0]))"]).joined(separator: ", ")
        }
    }

    private static func count(_ number: Int, _ noun: String) -> String { "\(number) \(noun)\(number == 1 ? "" : "s")" }
}
