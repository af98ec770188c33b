// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import RunLoopsTestSupport
import Testing

@testable import RunLoopsDiagnostics

/// Memory that a test can change.
private final class TestMemory: TaskMemory {
    private static let page: UInt64 = 4096
    let blockSize = 4096
    var pages: [UInt64: [UInt8]] = [:]
    /// The places that were read.
    var places: [(address: UInt64, count: Int)] = []
    /// Where pages that are not known yet come from.
    let origin: ProcessMemory?
    /// Called before each read.
    var willRead: (TestMemory) -> Void = { _ in }

    init(origin: ProcessMemory? = nil) { self.origin = origin }

    func read(_ address: UInt64, into buffer: UnsafeMutableRawBufferPointer) -> Bool {
        willRead(self)
        places.append((address, buffer.count))
        for index in buffer.indices {
            let place = address &+ UInt64(index)
            guard let page = page(place / Self.page) else { return false }
            buffer[index] = page[Int(place % Self.page)]
        }
        return true
    }

    private func page(_ number: UInt64) -> [UInt8]? {
        if let page = pages[number] { return page }
        var page = [UInt8](repeating: 0, count: Int(Self.page))
        let isRead = page.withUnsafeMutableBytes { origin?.read(number &* Self.page, into: $0) }
        guard isRead == true else { return nil }
        pages[number] = page
        return page
    }

    func write(_ word: UInt64, at address: UInt64, bytes: Int = 8) {
        for index in 0..<bytes {
            let place = address &+ UInt64(index)
            if pages[place / Self.page] == nil, origin == nil {
                pages[place / Self.page] = [UInt8](repeating: 0, count: Int(Self.page))
            }
            pages[place / Self.page]?[Int(place % Self.page)] = UInt8(truncatingIfNeeded: word >> UInt64(8 * index))
        }
    }
}

extension TestMemory {
    /// Writes the variables of a runtime, and returns their addresses.
    fileprivate func writeRuntime(version: UInt64 = 1, size: UInt64 = 208, kind: UInt64 = TaskLayout.metadataKind)
        -> [TaskRuntime.Variable: UInt64]
    {
        write(0x9000, at: 0x1000)
        write(size, at: 0x1008)
        write(version, at: 0x1010)
        write(kind, at: 0x9000)
        return [.metadata: 0x1000, .size: 0x1008, .version: 0x1010]
    }

    /// Writes a suspended task that waits for another one.
    fileprivate func writeTask(at address: UInt64, id: UInt64, waitsFor other: UInt64) {
        write(0x9000, at: address)
        write(3, at: address + 8)
        write(id, at: address + 36, bytes: 4)
        write(0x7000, at: address + 56)
        write(0x4015, at: address + 96)
        write(address + 512, at: address + 160)
        write(other, at: address + 512 + 16)
        write(1, at: address + 512 + 32)
    }

    /// Writes a record that has the name of a task.
    fileprivate func writeName(_ name: String, at address: UInt64) {
        write(6, at: address)
        write(0, at: address + 8)
        write(address + 24, at: address + 16)
        for (index, byte) in (Array(name.utf8) + [0]).enumerated() {
            write(UInt64(byte), at: address + 24 + UInt64(index), bytes: 1)
        }
    }
}

@Suite("The reader of tasks", .ownThread)
struct TaskReaderTests {
    private func reader(_ memory: TestMemory) throws -> TaskReader<TestMemory> {
        TaskReader(memory: memory, runtime: try TaskRuntime(memory.writeRuntime(), in: memory))
    }

    private func task(at address: UInt64, _ reader: inout TaskReader<TestMemory>) throws -> TaskRecord {
        let task = reader.task(at: address)
        return try #require(task)
    }

    @Test func `a runtime of another version, size or kind is refused`() {
        let memory = TestMemory()
        #expect(throws: TaskRuntime.Refusal.unknownVersion(2)) {
            try TaskRuntime(memory.writeRuntime(version: 2), in: memory)
        }
        #expect(throws: TaskRuntime.Refusal.contradiction) {
            try TaskRuntime(memory.writeRuntime(size: 216), in: memory)
        }
        #expect(throws: TaskRuntime.Refusal.contradiction) {
            try TaskRuntime(memory.writeRuntime(kind: 0x501), in: memory)
        }
        #expect(throws: TaskRuntime.Refusal.contradiction) { try TaskRuntime([:], in: memory) }
    }

    @Test(arguments: [208, 224]) func `the fields of a child are behind the task, whose size depends on the machine`(
        size: UInt64
    ) throws {
        let memory = TestMemory()
        let runtime = try TaskRuntime(memory.writeRuntime(size: size), in: memory)
        var reader = TaskReader(memory: memory, runtime: runtime)
        memory.writeTask(at: 0x4000, id: 1, waitsFor: 0x5000)
        memory.write(1 << 24, at: 0x4000 + 32, bytes: 4)
        memory.write(0x6000, at: 0x4000 + size)
        memory.writeTask(at: 0x5000, id: 2, waitsFor: 0x4000)
        let child = try task(at: 0x4000, &reader)
        #expect(child.parent == 0x6000)
        #expect(child.wait == .task(0x5000, identifier: 2))
        #expect(try task(at: 0x5000, &reader).parent == nil)
    }

    @Test func `a task that changes while it is read is read again`() throws {
        let memory = TestMemory()
        var reader = try reader(memory)
        memory.writeTask(at: 0x4000, id: 1, waitsFor: 0x5000)
        memory.writeTask(at: 0x5000, id: 2, waitsFor: 0x4000)
        memory.places = []
        memory.willRead = { memory in
            // Behind the reads of two blocks: of the task and its wait, and of the other task.
            if memory.places.count == 2 { memory.writeTask(at: 0x4000, id: 1, waitsFor: 0x4000) }
        }
        let task = try task(at: 0x4000, &reader)
        #expect(task.wait == .task(0x4000, identifier: 1))
        #expect(task.isSettled)
        #expect(reader.retries == 1)
    }

    @Test func `a task is read again by itself if another task gets the place of the one that it waits for`() throws {
        let memory = TestMemory()
        var reader = try reader(memory)
        memory.writeTask(at: 0x4000, id: 1, waitsFor: 0x5000)
        memory.writeTask(at: 0x5000, id: 2, waitsFor: 0x4000)
        memory.places = []
        memory.willRead = { memory in
            // Behind the first reads of two blocks: of the task and its wait, and of the other task.
            if memory.places.count == 2 { memory.writeTask(at: 0x5000, id: 3, waitsFor: 0x4000) }
        }
        let tasks = reader.tasks(at: [0x4000])
        #expect(tasks.map(\.wait) == [.task(0x5000, identifier: 3)])
        #expect(reader.retries == 1)
        #expect(reader.tasks(at: [0x4000, 0x4800, 0x5000]).map(\.identifier) == [1, 3])
        #expect(reader.retries == 1)
    }

    @Test func `a task in several blocks is read with its neighbours, and its parts once more`() throws {
        let memory = TestMemory()
        var reader = try reader(memory)
        // Its wait is in the next block.
        memory.writeTask(at: 0x4F00, id: 1, waitsFor: 0x6000)
        memory.writeTask(at: 0x6000, id: 2, waitsFor: 0x4F00)
        memory.places = []
        let tasks = reader.tasks(at: [0x4F00, 0x6000])
        #expect(tasks.map(\.wait) == [.task(0x6000, identifier: 2), .task(0x4F00, identifier: 1)])
        #expect(memory.places.filter { $0.count == 4096 }.map(\.address) == [0x4000, 0x5000, 0x6000])
        // The task, its wait, and three numbers of the task that it waits for.
        #expect(memory.places.filter { $0.count < 4096 }.count == 2 * 5)
        #expect(reader.retries == 0)
    }

    @Test func `a task is settled beside a change of the task that it waits for`() throws {
        let memory = TestMemory()
        var reader = try reader(memory)
        memory.writeTask(at: 0x4000, id: 1, waitsFor: 0x5000)
        memory.writeTask(at: 0x5000, id: 2, waitsFor: 0)
        var resume: UInt64 = 0x7000
        memory.willRead = { memory in
            resume += 1
            memory.write(resume, at: 0x5000 + 56)
        }
        #expect(try task(at: 0x4000, &reader).wait == .task(0x5000, identifier: 2))
        #expect(reader.retries == 0)
    }

    @Test func `a task that never ceases to change has no wait and is marked`() throws {
        let memory = TestMemory()
        var reader = try reader(memory)
        memory.writeTask(at: 0x4000, id: 1, waitsFor: 0x4000)
        memory.write(0x4300, at: 0x4000 + 104)
        memory.writeName("busy", at: 0x4300)
        var resume: UInt64 = 0x7000
        memory.willRead = { memory in
            resume += 1
            memory.write(resume, at: 0x4000 + 56)
        }
        let task = try task(at: 0x4000, &reader)
        #expect(!task.isSettled && task.wait == nil && task.identifier == 1)
        #expect(task.name == "busy")
    }

    @Test(arguments: [true, false])
    func `a task is read again if the list of its records leads into memory that it has freed`(inBlocks: Bool) throws {
        let memory = TestMemory()
        var reader = try reader(memory)
        memory.writeTask(at: 0x4000, id: 1, waitsFor: 0x4000)
        memory.writeName("worker", at: 0x4300)
        // The record of a group that the task has left and enters again.
        memory.write(0x4400, at: 0x4000 + 104)
        memory.write(0x7F86_3D2C_70E8, at: 0x4400)
        memory.places = []
        memory.willRead = { memory in
            // Behind several looks, which are equal.
            guard memory.places.count == 8 else { return }
            memory.write(2, at: 0x4400)
            memory.write(0x4300, at: 0x4408)
        }
        let task = try inBlocks ? #require(reader.tasks(at: [0x4000]).first) : task(at: 0x4000, &reader)
        #expect(task.name == "worker")
        #expect(task.isSettled)
    }

    @Test func `a task at the address of one that has ended is not what a task waits for`() throws {
        let memory = TestMemory()
        var reader = try reader(memory)
        memory.writeTask(at: 0x4000, id: 1, waitsFor: 0x5000)
        memory.writeTask(at: 0x5000, id: 2, waitsFor: 0x5000)
        let waiting = try task(at: 0x4000, &reader)
        memory.writeTask(at: 0x5000, id: 3, waitsFor: 0x4000)
        let graph = TaskGraph([waiting, try task(at: 0x5000, &reader)])
        #expect(graph.successors(of: 0).isEmpty && graph.successors(of: 1) == [0])
        #expect(graph.rings().isEmpty)
    }

    @Test func `memory that is damaged at random is read or left out without a trap`() throws {
        let scenes = [try TaskScene("deadlock", "3"), try TaskScene("group"), try TaskScene("actor")]
        for scene in scenes {
            _ = try scene.report { report in
                report.tasks.contains { $0.wait == .actor("Store") || $0.parent != nil } || !report.rings.isEmpty
            }
            let process = try ProcessMemory(of: scene.number)
            let list = process.list
            // The whole picture, once, undamaged; what it reads is what is damaged.
            let full = try TaskReport(of: process)
            let memory = TestMemory(origin: process)
            let code = TaskReport.code(list, process)
            let runtime = try TaskReport.runtime(of: process, code, Symbolizer(.process(scene.number)))
            let (addresses, _) = process.addresses(
                of: runtime.metadata, in: ProcessMemory.regions(list), most: TaskReport.maxTasks)
            var reader = TaskReader(memory: memory, runtime: runtime)
            _ = report(addresses, &reader)
            let (places, pages) = (memory.places, memory.pages)
            try #require(places.count > full.tasks.count)

            var random = SeededRandom(55)
            let spoilt = TestMemory()
            var (found, most) = (0, 0)
            for _ in 0..<(fuzzedInputs(orElse: 3000) / 3) {
                spoilt.pages = pages
                spoilt.places = []
                for _ in 0..<Int.random(in: 1...16, using: &random) {
                    let place = places.randomElement(using: &random)!
                    let other = places.randomElement(using: &random)!.address
                    let word = [0, .max, .max >> 1, 1, other, other &+ 1, random.next(), 0 &- 8]
                        .randomElement(using: &random)!
                    let offset = UInt64(Int.random(in: 0..<place.count, using: &random) & ~7)
                    spoilt.write(word, at: place.address &+ offset, bytes: [1, 4, 8].randomElement(using: &random)!)
                }
                var reader = TaskReader(memory: spoilt, runtime: runtime)
                let report = report(addresses, &reader)
                found += report.tasks.count
                most = max(most, spoilt.places.count)
                #expect(report.rings.allSatisfy { !$0.isEmpty })
                _ = (report.lines, report.document.text)
            }
            #expect(found > 0)
            // Per task: two looks, 64 records, 64 frames, some names. Other tasks are only those that are referred to.
            #expect(most < 400 * (addresses.count * 3 + 8), "\(most) reads")
        }
    }

    private func report(_ addresses: [UInt64], _ reader: inout TaskReader<TestMemory>) -> TaskReport {
        let records = TaskReport.records(at: addresses, &reader)
        return TaskReport(records: records, reader: &reader) { Symbolizer.Symbol(start: $0, offset: 0) }
    }
}

@Suite("A cache of blocks")
struct BlockCacheTests {
    private func read(_ cache: BlockCache<TestMemory>, _ address: UInt64, _ count: Int) -> [UInt8]? {
        var bytes = [UInt8](repeating: 0, count: count)
        return bytes.withUnsafeMutableBytes { cache.read(address, into: $0) } ? bytes : nil
    }

    @Test func `reads of one block are one read, until the cache is cleared`() {
        let memory = TestMemory()
        for place in 0..<128 { memory.write(UInt64(place), at: 0x1000 + UInt64(place) * 8) }
        let cache = BlockCache(memory)
        #expect(read(cache, 0x1008, 8) == [1, 0, 0, 0, 0, 0, 0, 0])
        memory.write(9, at: 0x1008)
        #expect(read(cache, 0x1008, 8)?.first == 1)
        #expect(memory.places.count == 1)
        cache.clear()
        #expect(read(cache, 0x1008, 8)?.first == 9)
        #expect(memory.places.count == 2)
    }

    @Test func `a read of several blocks has the bytes of all, and one beyond the memory fails`() {
        let memory = TestMemory()
        for place in 0..<1024 { memory.write(UInt64(place), at: 0x1000 + UInt64(place) * 8) }
        let cache = BlockCache(memory)
        let bytes = read(cache, 0x10F0, 7000)
        #expect((0..<875).allSatisfy { bytes?[$0 * 8] == UInt8(truncatingIfNeeded: 30 + $0) })
        #expect(read(cache, 0x2FF8, 16) == nil)
        #expect(read(cache, 0x2FF8, 8) != nil)
        #expect(read(cache, .max - 7, 8) == nil)
    }

    @Test func `more blocks than the cache has are read`() {
        let memory = TestMemory()
        for place in 0..<1100 { memory.write(UInt64(place), at: 0x10000 + UInt64(place) * 4096) }
        let cache = BlockCache(memory)
        #expect(
            (0..<1100).allSatisfy { place in
                read(cache, 0x10000 + UInt64(place) * 4096, 2) == [UInt8(place & 255), UInt8(place >> 8)]
            })
    }
}

@Suite("The graph of tasks")
struct TaskGraphTests {
    private func task(_ id: UInt64, waitsFor other: UInt64? = nil, parent: UInt64? = nil, group: UInt64? = nil)
        -> TaskRecord
    {
        TaskRecord(
            address: id * 16, identifier: id, state: .suspended, isCancelled: false, priority: 0,
            parent: parent.map { $0 * 16 }, group: group, name: nil,
            wait: other.map { .task($0 * 16, identifier: $0) })
    }

    @Test func `each task that waits in a ring is in one ring, from its lowest id on`() {
        let graph = TaskGraph([
            task(5, waitsFor: 3), task(3, waitsFor: 4), task(4, waitsFor: 5), task(1, waitsFor: 3), task(2),
            task(7, waitsFor: 7), task(8, waitsFor: 99),
        ])
        #expect(graph.rings().map { $0.map { graph.tasks[$0].identifier } } == [[3, 4, 5], [7]])
    }

    @Test func `a ring of a hundred thousand tasks is found`() {
        let count: UInt64 = 100_000
        let graph = TaskGraph((1...count).map { task($0, waitsFor: $0 % count + 1) })
        #expect(graph.rings().map(\.count) == [Int(count)])
    }

    @Test func `tasks that are each other's parents are roots or children once`() {
        let graph = TaskGraph([task(1, parent: 2), task(2, parent: 1), task(3, parent: 3)])
        #expect(graph.roots == [0, 2] && graph.children == [[1], [], []])
    }
}
