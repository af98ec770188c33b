// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

/// Objects that are to be committed, each once, in the order in which they were first marked.
struct CommitList {
    struct Mark {
        /// Kept alive, so that no other object gets its identity.
        let object: AnyObject
        let commit: () -> Void
    }

    private(set) var marks: [Mark] = []
    /// The objects; empty while they are so few that looking through the marks is quicker.
    private var known: Set<ObjectIdentifier> = []
    private static let fewMarks = 8
    /// Called when the marks have been committed.
    var completions: [() -> Void] = []

    var isEmpty: Bool { marks.isEmpty && completions.isEmpty }

    /// Whether the object is new in the list.
    mutating func insert(_ mark: Mark) -> Bool {
        if marks.count < Self.fewMarks {
            for other in marks where other.object === mark.object { return false }
        } else {
            if known.isEmpty { known = Set(marks.map { ObjectIdentifier($0.object) }) }
            guard known.insert(ObjectIdentifier(mark.object)).inserted else { return false }
        }
        marks.append(mark)
        return true
    }

    mutating func append(_ other: CommitList) {
        for mark in other.marks { _ = insert(mark) }
        completions += other.completions
    }

    /// Returns all marks; the list is empty afterwards.
    mutating func takeAll() -> CommitList {
        defer { self = CommitList() }
        return self
    }
}
