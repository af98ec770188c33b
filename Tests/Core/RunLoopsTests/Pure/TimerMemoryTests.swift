// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import Glibc
import RunLoopsTestSupport
import Testing

@testable import RunLoops

/// The memory of timers' tables beside the C library's heap.
@Suite struct TimerMemoryTests {
    /// How many small blocks one of the C library's heaps has been given back and not joined with their neighbours: the heap
    /// with the most.
    private struct FastBlocks {
        private typealias Report = @convention(c) (CInt, UnsafeMutablePointer<FILE>) -> CInt
        private let report: Report
        private let file: UnsafeMutablePointer<FILE>
        private let bytes = UnsafeMutablePointer<CChar>.allocate(capacity: 1 << 20)

        init?() {
            guard let symbol = dlsym(nil, "malloc_info"), let file = tmpfile() else { return nil }
            // No buffer, which would be a large block itself.
            setvbuf(file, nil, _IONBF, 0)
            report = unsafeBitCast(symbol, to: Report.self)
            self.file = file
        }

        var count: Int {
            rewind(file)
            _ = report(0, file)
            rewind(file)
            let length = fread(bytes, 1, 1 << 20, file)
            let key = "type=\"fast\" count=\""
            var (most, last) = (-1, -1)
            for index in 0..<max(0, length - 64) where strncmp(bytes + index, key, strlen(key)) == 0 {
                // A line for each heap; the last is the sum of all.
                most = max(most, last)
                last = Int(atol(bytes + index + strlen(key)))
            }
            return most
        }
    }

    /// Whether the C library keeps such blocks at all: since version 2.43 it does not.
    private static let hasFastBlocks = (FastBlocks()?.count ?? -1) >= 0

    @Test(.enabled(if: !Sanitizer.isAny && hasFastBlocks))
    func `A growing timer heap does not make the C library merge the thread's small free blocks`() async {
        await #expect(processExitsWith: .success) {
            // A thread has a heap of its own, and nothing else happens there between the two counts. So many blocks that no
            // other thread's heap has as many: another thread may join its own at any time.
            let counts = TestThread.run { () -> (before: Int, after: Int)? in
                // What Swift's runtime looks up for the first time, it keeps in blocks of the same heap.
                guard let blocks = FastBlocks(), blocks.count < 4000, Self.countOfGrownHeap == 3000 else { return nil }
                let small = (0..<5000).map { _ in malloc(40) }
                // Room at the end of the heap: where that is used up, the C library joins free blocks for any block.
                free(malloc(100_000))
                for block in small { free(block) }
                let before = blocks.count
                return Self.countOfGrownHeap == 3000 ? (before, blocks.count) : nil
            }
            let (before, after) = try #require(counts)
            #expect(before > 4000)
            #expect(after >= before - 10)
        }
    }

    private static var countOfGrownHeap: Int {
        var heap = TimerHeap()
        var places = TimerHeap.Places()
        places.resize(to: 3000)
        for cell in 0..<UInt32(3000) {
            heap.insert(TimerHeap.Entry(date: Int64(cell), sequence: cell, cell: cell), places)
        }
        return heap.count
    }

    @Test(arguments: [1, 64, 65, 5000]) func `Memory that no element has used is zero`(capacity: Int) {
        // Blocks that the C library gives out again, with other bytes in them.
        let blocks = (1...64).map { _ in UnsafeMutableRawPointer.allocate(byteCount: 512, alignment: 64) }
        for block in blocks { block.initializeMemory(as: UInt8.self, repeating: 0xFF, count: 512) }
        for block in blocks { block.deallocate() }
        var memory = TimerMemory<UInt64>()
        memory.resize(to: capacity)
        let fresh = (0..<capacity).allSatisfy { memory[$0] == 0 }
        memory[0] = 7
        memory.resize(to: capacity * 2)
        let grown = (1..<capacity * 2).allSatisfy { memory[$0] == 0 }
        let first = memory[0]
        #expect(fresh && grown && first == 7)
    }
}
