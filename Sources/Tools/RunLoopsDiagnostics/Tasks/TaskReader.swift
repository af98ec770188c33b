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
    private let scratch = SharedScratch(count: Window.bytes + 4096)
    /// Whether an address is one of code.
    private let isCode: (UInt64) -> Bool
    /// How often a task was read again because it had changed.
    private(set) var retries = 0

    private var layout: TaskLayout { runtime.layout }

    init(memory: Memory, runtime: TaskRuntime, isCode: @escaping (UInt64) -> Bool = { _ in true }) {
        self.memory = memory
        self.isCode = isCode
        self.runtime = runtime
    }

    /// The fields of a task that change when it does.
    private struct Header: Equatable {
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

    private struct Dependency: Equatable {
        var object: UInt64
        var kind: UInt32
    }

    /// Returns the tasks at addresses; nothing for an address without a task.
    ///
    /// The memory is read in blocks, because system calls are what a program with many tasks takes time for. Each block is read
    /// twice. A task that differs, or is not in one block, is read by itself: two blocks are not of the same time.
    ///
    /// - Complexity: O(n) in the addresses, if those of tasks that are made together are near each other.
    mutating func tasks(at addresses: [UInt64]) -> [TaskRecord] {
        let (first, second) = (BlockCache(memory), BlockCache(memory))
        var tasks: [TaskRecord] = []
        var next = 0
        while next < addresses.count {
            let batch = addresses[next..<min(addresses.count, next + Self.batchSize)]
            let looks = batch.map { look(at: $0, in: first) }
            // All of the second reads are after all of the first: what is equal in both was so between.
            for (address, look) in zip(batch, looks) {
                if let look, !look.isTorn, look == self.look(at: address, in: second) {
                    tasks.append(look.task)
                    continue
                }
                if look != nil { retries += 1 }
                if let task = task(at: address) { tasks.append(task) }
            }
            first.clear()
            second.clear()
            next = batch.endIndex
        }
        return tasks
    }

    private static var batchSize: Int { 256 }

    /// A task as it was read once.
    private struct Look: Equatable {
        let header: Header
        let dependency: Dependency?
        var task: TaskRecord
        /// Whether the parts are of different times: the task has changed between them.
        var isTorn: Bool
    }

    /// Returns a task as it is in a cache; `nil` also for a task that is not in one block.
    private func look(at address: UInt64, in cache: BlockCache<Memory>) -> Look? {
        cache.beginUse()
        guard var look = parts(at: address, in: cache), cache.isOfOneBlock else { return nil }
        look.task.wait = look.dependency.map { wait($0, in: cache) }
        return look
    }

    /// Returns a task without what it waits for.
    private func parts(at address: UInt64, in memory: some TaskMemory) -> Look? {
        guard let header = header(at: address, in: memory), isTask(header) else { return nil }
        var task = record(header, at: address)
        let dependency = dependency(header, in: memory)
        let name = name(header.records, in: memory)
        task.name = name.text
        if task.state == .suspended || task.state == .enqueued { task.frames = frames(header, in: memory) }
        return Look(header: header, dependency: dependency, task: task, isTorn: !name.isOfRecords)
    }

    /// Returns the task at an address.
    ///
    /// - Returns: `nil` if there is no task, or no longer.
    /// - Complexity: O(1): the numbers of attempts, records and frames are limited.
    mutating func task(at address: UInt64) -> TaskRecord? {
        // All parts are compared, and not the header alone: between its two reads, a task may have entered and left a group, whose
        // record is one of the list that has the name. The header is also read after the parts, because two looks at memory
        // that the task has freed are equal too.
        var before: Look?
        // A task keeps its name.
        var named: TaskRecord?
        for attempt in 0...Self.maxAttempts {
            guard var look = parts(at: address, in: memory) else { return nil }
            // A task that waits keeps the other one alive between the two looks.
            look.task.wait = look.dependency.map { wait($0, in: memory) }
            if look.header != header(at: address, in: memory) { look.isTorn = true }
            if !look.isTorn, look == before { return look.task }
            if look.task.name != nil { named = look.task }
            if attempt > 0 { retries += 1 }
            before = look
        }
        guard var task = before?.task else { return nil }
        task.isSettled = false
        task.wait = nil
        task.frames = []
        task.name = named?.identifier == task.identifier ? named?.name : nil
        return task
    }

    private func header(at address: UInt64, in memory: some TaskMemory) -> Header? {
        // The fields of a child are behind the task. They may not be there if the task is not a child.
        let size = Int(layout.size)
        let bytes = UnsafeMutableRawBufferPointer(rebasing: scratch.bytes[Window.bytes..<Window.bytes + size + 24])
        let own = UnsafeMutableRawBufferPointer(rebasing: bytes[..<size])
        let isWhole = memory.read(address, into: bytes)
        guard isWhole || memory.read(address, into: own) else { return nil }
        // SAFETY: every offset of a layout is inside the task, and the bytes up to `size` or `size` + 24 were read.
        func word(_ offset: Int) -> UInt64 { bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self) }
        func half(_ offset: Int) -> UInt32 { bytes.loadUnaligned(fromByteOffset: offset, as: UInt32.self) }
        let flags = half(layout.flags)
        let isChild = isWhole && flags & Flag.child != 0
        return Header(
            metadata: word(0), references: word(8), flags: flags,
            identifier: UInt64(half(layout.identifier)) | UInt64(half(layout.upperIdentifier)) << 32,
            resume: word(layout.resume), context: word(layout.context), status: half(layout.status),
            records: word(layout.records), dependency: word(layout.dependency),
            parent: isChild ? word(size) : 0,
            group: isChild && flags & Flag.groupChild != 0 ? word(size + 16) : 0)
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

    /// Returns the name in the list of a task's records, and whether the list consists of records: it does not if it was
    /// followed into memory that the task has freed.
    private func name(_ first: UInt64, in memory: some TaskMemory) -> (text: String?, isOfRecords: Bool) {
        var place = first
        for _ in 0..<Self.maxRecords where place != 0 {
            guard let record = memory.words(3, at: place), RecordKind.isKnown(record[0]) else { return (nil, false) }
            if record[0] == RecordKind.name {
                let text = memory.text(at: record[2], most: Self.maxNameLength)
                return (text, text != nil)
            }
            place = record[1]
        }
        return (nil, place == 0)
    }

    private func dependency(_ header: Header, in memory: some TaskMemory) -> Dependency? {
        guard header.status & Flag.dependency != 0, header.status & Flag.complete == 0, header.dependency != 0,
            let record = memory.words(5, at: header.dependency)
        else { return nil }
        return Dependency(object: record[2], kind: UInt32(truncatingIfNeeded: record[4]))
    }

    private func wait(_ dependency: Dependency, in memory: some TaskMemory) -> TaskRecord.Wait {
        switch dependency.kind {
        case 1:
            let other = header(at: dependency.object, in: memory)
            let identifier = other.map { isTask($0) ? $0.identifier : 0 } ?? 0
            return .task(dependency.object, identifier: identifier)
        case 2: return .continuation
        case 3: return .group(dependency.object)
        case 4: return .executor(dependency.object)
        case let kind: return .unknown(kind)
        }
    }

    /// Returns the functions that the task and those that wait for it inside the task resume with.
    private func frames(_ header: Header, in memory: some TaskMemory) -> [UInt64] {
        var frames = [header.resume]
        if runtime.adapters.contains(header.resume), header.context != 0,
            let entry = memory.number(UInt64.self, at: header.context &- layout.entry)
        {
            frames.append(entry)
        }
        var place = header.context
        // Most contexts of a task are in one page, which is read once.
        var window = Window(scratch)
        while frames.count < Self.maxFrames, place != 0, let frame = window.pair(at: place, in: memory) {
            if frame.1 != 0 { frames.append(frame.1) }
            // A context that names itself would fill the list.
            if frame.0 == place { break }
            place = frame.0
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

/// A page of memory, read as a whole.
private struct Window {
    static let bytes = 4096
    private let page: UnsafeMutableRawBufferPointer
    private var start: UInt64 = 1

    /// - Parameter scratch: At least a page, at its beginning.
    init(_ scratch: SharedScratch) { page = UnsafeMutableRawBufferPointer(rebasing: scratch.bytes[..<Self.bytes]) }

    /// Returns the two words at an address; `nil` if they cannot be read.
    mutating func pair(at address: UInt64, in memory: some TaskMemory) -> (UInt64, UInt64)? {
        // Contexts are aligned to 16 bytes, and do not cross the end of a page.
        guard address % 16 == 0 else { return nil }
        let first = address & ~4095
        if first != start {
            start = 1
            guard memory.read(first, into: page) else { return nil }
            start = first
        }
        let offset = Int(address % 4096)
        // SAFETY: the page was read; the offset is a multiple of 16.
        return (
            page.load(fromByteOffset: offset, as: UInt64.self), page.load(fromByteOffset: offset + 8, as: UInt64.self)
        )
    }
}
