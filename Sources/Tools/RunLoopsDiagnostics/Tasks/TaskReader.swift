// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

/// One task, as it was at one moment.
struct TaskRecord: Equatable {
    enum State: String { case running, enqueued, suspended, complete }

    /// The object that a task waits for, by its address.
    enum Wait: Equatable {
        /// Also by its identifier: another task may have the address later. 0: there was no task at the address.
        case task(UInt64, identifier: UInt64)
        case continuation
        case group(UInt64)
        /// 0 is the executor of tasks without an actor.
        case executor(UInt64)
        case unknown(UInt32)
    }

    let address: UInt64
    let identifier: UInt64
    let state: State
    let isCancelled: Bool
    let priority: UInt8
    /// The task that this one is a child of; `nil` for a task without a parent.
    let parent: UInt64?
    /// The group that this task is a child of.
    let group: UInt64?
    var name: String?
    /// `nil` for a task that does not wait.
    var wait: Wait?
    /// The functions that are resumed, innermost first; empty for a task that runs or is complete.
    var frames: [UInt64] = []
    /// Whether the task did not change while it was read.
    ///
    /// If it did, ``wait`` is `nil`: the reason for waiting is not known.
    var isSettled = true
}

/// Reads tasks of a program that goes on running meanwhile.
///
/// Nothing that is read is trusted: each list that is followed and each text has a limit, addresses wrap, and an address
/// that cannot be read ends what was read so far.
struct TaskReader<Memory: TaskMemory> {
    /// How often a task is read that changes while it is read.
    static var maxAttempts: Int { 16 }
    private static var maxRecords: Int { 64 }
    private static var maxFrames: Int { 64 }
    private static var maxNameLength: Int { 256 }

    let memory: Memory
    let runtime: TaskRuntime
    private let scratch = SharedScratch(count: 4096)
    private let cache: BlockCache<Memory>
    /// Whether an address is one of code.
    private let isCode: (UInt64) -> Bool
    /// How often a task was read again because it had changed.
    private(set) var retries = 0

    private var layout: TaskLayout { runtime.layout }

    init(memory: Memory, runtime: TaskRuntime, isCode: @escaping (UInt64) -> Bool = { _ in true }) {
        self.memory = memory
        cache = BlockCache(memory)
        self.isCode = isCode
        self.runtime = runtime
    }

    private struct Header {
        var metadata: UInt64
        var references: UInt64
        var flags: UInt32
        var identifier: UInt64
        var resume: UInt64
        var context: UInt64
        var status: UInt32
        var records: UInt64
        var dependency: UInt64
        var parent: UInt64
        var group: UInt64
    }

    private struct Dependency {
        var object: UInt64
        var kind: UInt32
    }

    /// Returns the tasks at addresses; nothing for an address without a task.
    ///
    /// The memory is read in blocks, because system calls are what a program with many tasks takes time for. What was read of a
    /// task is then read once more, by one call, and compared: blocks are not of one time.
    ///
    /// - Complexity: O(n) in the addresses, if those of tasks that are made together are near each other.
    mutating func tasks(at addresses: [UInt64]) -> [TaskRecord] {
        var tasks: [TaskRecord] = []
        for (index, address) in addresses.enumerated() {
            if index % Self.batchSize == 0 { cache.clear() }
            if let task = task(inBlocksAt: address) ?? task(at: address) { tasks.append(task) }
        }
        cache.clear()
        return tasks
    }

    private static var batchSize: Int { 256 }

    /// Returns the task at an address as it is in the blocks that were read before; `nil` if it has changed since, or was none.
    private mutating func task(inBlocksAt address: UInt64) -> TaskRecord? {
        guard let look = look(at: address) else { return nil }
        if isRight(look) { return look.task }
        retries += 1
        return nil
    }

    /// Returns the task at an address.
    ///
    /// - Returns: `nil` if there is no task, or no longer.
    /// - Complexity: O(1): the numbers of attempts, records and frames are limited.
    mutating func task(at address: UInt64) -> TaskRecord? {
        var last: TaskRecord?
        var name: String?
        for _ in 0...Self.maxAttempts {
            cache.clear()
            guard let look = look(at: address) else { return nil }
            if isRight(look) { return look.task }
            retries += 1
            // A task keeps its name; another one at the address has another name, or none.
            if last?.identifier != look.task.identifier { name = nil }
            name = look.task.name ?? name
            last = look.task
        }
        last?.isSettled = false
        last?.wait = nil
        last?.frames = []
        last?.name = name
        return last
    }

    /// A task as it was read once, in parts that may be of different times.
    private struct Look {
        var task: TaskRecord
        /// Whether the list of the task's records consists of records: it does not if it was followed into memory that the task
        /// has freed.
        var hasRecords: Bool
    }

    /// Whether the parts of a look are together what the task is now.
    private func isRight(_ look: Look) -> Bool { look.hasRecords && cache.isUnchanged }

    /// Returns a task as it is in the cache.
    private func look(at address: UInt64) -> Look? {
        cache.beginUse()
        guard let header = header(at: address), isTask(header) else { return nil }
        var task = record(header, at: address)
        let name = name(header.records)
        task.name = name.text
        if task.state == .suspended || task.state == .enqueued { task.frames = frames(header) }
        task.wait = dependency(header).map { wait($0) }
        return Look(task: task, hasRecords: name.isOfRecords)
    }

    private func header(at address: UInt64) -> Header? {
        let size = Int(layout.size)
        let bytes = UnsafeMutableRawBufferPointer(rebasing: scratch.bytes[..<size])
        guard cache.read(address, into: bytes) else { return nil }
        // SAFETY: every offset of a layout is inside the task, whose bytes were read.
        func word(_ offset: Int) -> UInt64 { bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self) }
        func half(_ offset: Int) -> UInt32 { bytes.loadUnaligned(fromByteOffset: offset, as: UInt32.self) }
        let flags = half(layout.flags)
        // The fields of a child are behind the task: its parent, the next child, and its group.
        let child = flags & Flag.child != 0 ? cache.words(3, at: address &+ layout.size) : nil
        return Header(
            metadata: word(0), references: word(8), flags: flags,
            identifier: UInt64(half(layout.identifier)) | UInt64(half(layout.upperIdentifier)) << 32,
            resume: word(layout.resume), context: word(layout.context), status: half(layout.status),
            records: word(layout.records), dependency: word(layout.dependency),
            parent: child?[0] ?? 0, group: flags & Flag.groupChild != 0 ? child?[2] ?? 0 : 0)
    }

    /// Returns the identifier of the task that another one waits for; 0 if there is none.
    ///
    /// Nothing else of it is read: it may change without pause, and the other task would too.
    private func identifier(ofTaskAt address: UInt64) -> UInt64 {
        guard cache.number(UInt64.self, at: address) == runtime.metadata,
            let lower = cache.number(UInt32.self, at: address &+ UInt64(layout.identifier)),
            let upper = cache.number(UInt32.self, at: address &+ UInt64(layout.upperIdentifier))
        else { return 0 }
        return UInt64(lower) | UInt64(upper) << 32
    }

    /// Whether the memory is a task's: the word of a task may be on a stack too, or in memory that was freed.
    private func isTask(_ header: Header) -> Bool {
        // Bit 32 of the references of an object that is being released, unless they are stored elsewhere (bit 63).
        let isReleased = header.references >> 63 == 0 && header.references >> 32 & 1 != 0
        return header.metadata == runtime.metadata && header.flags & 0xFF == 0 && header.identifier != 0 && !isReleased
            && header.resume != 0 && isCode(header.resume)
    }

    private func record(_ header: Header, at address: UInt64) -> TaskRecord {
        let state: TaskRecord.State =
            header.status & Flag.complete != 0
            ? .complete
            : header.status & Flag.running != 0
                ? .running : header.status & Flag.enqueued != 0 ? .enqueued : .suspended
        return TaskRecord(
            address: address, identifier: header.identifier, state: state,
            isCancelled: header.status & Flag.cancelled != 0, priority: UInt8(header.status & 0xFF),
            parent: header.parent == 0 ? nil : header.parent, group: header.group == 0 ? nil : header.group)
    }

    /// Returns the name in the list of a task's records, and whether the list consists of records.
    private func name(_ first: UInt64) -> (text: String?, isOfRecords: Bool) {
        var place = first
        for _ in 0..<Self.maxRecords where place != 0 {
            guard let record = cache.words(3, at: place), RecordKind.isKnown(record[0]) else { return (nil, false) }
            if record[0] == RecordKind.name {
                let text = cache.text(at: record[2], most: Self.maxNameLength)
                return (text, text != nil)
            }
            place = record[1]
        }
        return (nil, place == 0)
    }

    private func dependency(_ header: Header) -> Dependency? {
        guard header.status & Flag.dependency != 0, header.status & Flag.complete == 0, header.dependency != 0,
            let record = cache.words(5, at: header.dependency)
        else { return nil }
        return Dependency(object: record[2], kind: UInt32(truncatingIfNeeded: record[4]))
    }

    private func wait(_ dependency: Dependency) -> TaskRecord.Wait {
        switch dependency.kind {
        case 1:
            return .task(dependency.object, identifier: identifier(ofTaskAt: dependency.object))
        case 2: return .continuation
        case 3: return .group(dependency.object)
        case 4: return .executor(dependency.object)
        case let kind: return .unknown(kind)
        }
    }

    /// Returns the functions that the task and those that wait for it inside the task resume with.
    private func frames(_ header: Header) -> [UInt64] {
        var frames = [header.resume]
        if runtime.adapters.contains(header.resume), header.context != 0,
            let entry = cache.number(UInt64.self, at: header.context &- layout.entry)
        {
            frames.append(entry)
        }
        var place = header.context
        while frames.count < Self.maxFrames, place != 0, place % 16 == 0, let frame = cache.words(2, at: place) {
            if frame[1] != 0 { frames.append(frame[1]) }
            // A context that names itself would fill the list.
            if frame[0] == place { break }
            place = frame[0]
        }
        return frames
    }

    // MARK: Actors

    /// Returns the name of an actor's class, with the types that it is declared in.
    ///
    /// The name is read from the type's description in the memory, which a program without symbols has too.
    func className(ofObjectAt address: UInt64) -> String? {
        guard address != 0, let metadata = memory.number(UInt64.self, at: address),
            let kind = memory.number(UInt64.self, at: metadata), kind == 0 || kind > 0x7FF,
            var context = memory.number(UInt64.self, at: metadata &+ 40)
        else { return nil }
        var names: [String] = []
        // Types are not nested more deeply; a damaged description may name itself.
        for _ in 0..<8 {
            guard let flags = memory.number(UInt32.self, at: context) else { return nil }
            // Of a class, a structure, an enumeration.
            if (16...18).contains(flags & 0x1F) {
                guard let name = offset(at: context &+ 8).flatMap({ memory.text(at: $0, most: Self.maxNameLength) }),
                    !name.isEmpty
                else { return nil }
                names.append(name)
            } else if names.isEmpty {
                return nil
            } else if flags & 0x1F == 0 {
                break
            }
            guard let parent = memory.number(Int32.self, at: context &+ 4), parent != 0 else { break }
            let place = context &+ 4 &+ UInt64(bitPattern: Int64(parent & ~1))
            guard let next = parent & 1 == 0 ? place : memory.number(UInt64.self, at: place) else { break }
            context = next
        }
        return names.reversed().joined(separator: ".")
    }

    /// Returns the address that a relative reference leads to.
    private func offset(at place: UInt64) -> UInt64? {
        memory.number(Int32.self, at: place).map { place &+ UInt64(bitPattern: Int64($0)) }
    }
}

/// Bits of a task.
private enum Flag {
    // Of a job.
    static let child: UInt32 = 1 << 24
    static let groupChild: UInt32 = 1 << 26
    // Of a status.
    static let cancelled: UInt32 = 0x100
    static let running: UInt32 = 0x800
    static let enqueued: UInt32 = 0x1000
    static let complete: UInt32 = 0x2000
    static let dependency: UInt32 = 0x4000
}

/// Kinds of the records of a task.
private enum RecordKind {
    static let name: UInt64 = 6

    /// Whether a kind is one of the runtime's: up to the name, or one that the runtime keeps for itself.
    static func isKnown(_ kind: UInt64) -> Bool { kind <= name || (192..<256).contains(kind) }
}
