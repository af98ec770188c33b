// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import Glibc
import RunLoops
import RunLoopsTestSupport
import Testing

/// The memory of timers' tables beside the C library's heap.
@Suite struct TimerMemoryTests {
    /// How many small blocks the C library has been given back and not joined with their neighbours.
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
            // The line of the whole comes last.
            let key = "type=\"fast\" count=\""
            var found: Int?
            for index in 0..<max(0, length - 64) where strncmp(bytes + index, key, strlen(key)) == 0 {
                found = Int(atol(bytes + index + strlen(key)))
            }
            return found ?? -1
        }
    }

    @Test(.disabled(if: Sanitizer.isAny)) func `A table that grows does not make the C library join its free blocks`()
        async
    {
        await #expect(processExitsWith: .success) {
            // A thread has a heap of its own, and nothing else happens there between the two counts.
            let counts = TestThread.run { () -> (before: Int, after: Int)? in
                guard let blocks = FastBlocks() else { return nil }
                let small = (0..<200).map { _ in malloc(40) }
                for block in small { free(block) }
                let before = blocks.count
                var heap = TimerHeap()
                for slot in 0..<UInt32(3000) {
                    heap.insert(TimerHeap.Entry(date: Int64(slot), sequence: slot, slot: slot))
                }
                return heap.count == 3000 ? (before, blocks.count) : nil
            }
            let (before, after) = try #require(counts)
            #expect(before > 100)
            #expect(after >= before - 10)
        }
    }
}
