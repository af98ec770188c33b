// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

/// The offsets of the fields of a task, by the version that the runtime gives for them.
///
/// The runtime's header `Task.h` asks its authors to raise `_swift_concurrency_debug_internal_layout_version` with each
/// change. All offsets are in bytes, on 64-bit machines.
struct TaskLayout: Equatable {
    let version: UInt32
    /// The size of a task; the fields of children are behind it.
    let size: UInt64
    // Of the task.
    let flags: Int
    let identifier: Int
    let resume: Int
    let context: Int
    let status: Int
    let records: Int
    let upperIdentifier: Int
    let dependency: Int
    /// Of the function that a task begins with, before the context of a task that has not begun.
    let entry: UInt64

    /// Swift 6.2 and 6.3.
    ///
    /// A task ends with a lock of the system's threads, which has 40 bytes on x86-64 and 48 on arm64.
    private static let known = [208, 224].map { size in
        TaskLayout(
            version: 1, size: size, flags: 32, identifier: 36, resume: 56, context: 64, status: 96, records: 104,
            upperIdentifier: 144, dependency: 160, entry: 24)
    }

    /// The kind in the metadata of all tasks.
    static let metadataKind: UInt64 = 0x502

    /// Returns the layouts of a version; empty if it is not known.
    static func version(_ version: UInt32) -> [TaskLayout] { known.filter { $0.version == version } }
}

/// The runtime's own variables that say where and how tasks are stored.
struct TaskRuntime {
    let layout: TaskLayout
    /// The first word of each task.
    let metadata: UInt64
    /// The functions that a task resumes with as long as it has not begun.
    let adapters: [UInt64]

    /// The reason why the tasks of a program cannot be read.
    enum Refusal: Error, Equatable {
        case unknownVersion(UInt32)
        case contradiction
    }

    /// The names of the variables.
    enum Variable: String, CaseIterable {
        case metadata = "_swift_concurrency_debug_asyncTaskMetadata"
        case size = "_swift_concurrency_debug_asyncTaskSize"
        case version = "_swift_concurrency_debug_internal_layout_version"
        case adapter = "_swift_concurrency_debug_future_adapter"
        case otherAdapter = "_swift_concurrency_debug_non_future_adapter"
    }

    /// Reads the variables, and tests whether they agree with what is known of their version.
    ///
    /// - Parameter addresses: The addresses of the variables in the memory.
    init(_ addresses: [Variable: UInt64], in memory: some TaskMemory) throws(Refusal) {
        guard let version = addresses[.version].flatMap({ memory.number(UInt32.self, at: $0) }),
            let size = addresses[.size].flatMap({ memory.number(UInt64.self, at: $0) }),
            let metadata = addresses[.metadata].flatMap({ memory.number(UInt64.self, at: $0) })
        else { throw .contradiction }
        let layouts = TaskLayout.version(version)
        if layouts.isEmpty { throw .unknownVersion(version) }
        guard let layout = layouts.first(where: { $0.size == size }),
            memory.number(UInt64.self, at: metadata) == TaskLayout.metadataKind
        else {
            throw .contradiction
        }
        (self.layout, self.metadata) = (layout, metadata)
        adapters = [Variable.adapter, .otherAdapter].compactMap { variable in
            addresses[variable].flatMap { memory.number(UInt64.self, at: $0) }
        }
    }
}
