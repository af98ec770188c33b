// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import Glibc
import RunLoopsTestSupport
import Testing

@testable import RunLoopsTerminal

/// The bytes that wait for a terminal.
@Suite struct SendBufferTests {
    @Test func `Bytes are passed in order and once, whatever part of them is taken`() {
        var random = SeededRandom(57)
        var (buffer, appended, taken) = (SendBuffer(), [UInt8](), [UInt8]())
        for _ in 0..<2000 {
            if Bool.random(using: &random) {
                let more = (0..<Int.random(in: 0...40, using: &random)).map { _ in
                    UInt8.random(in: 0...255, using: &random)
                }
                buffer.append(more)
                appended += more
            }
            let part = buffer.withBytes { Array($0.prefix(.random(in: 0...40, using: &random))) }
            buffer.removeFirst(part.count)
            taken += part
        }
        taken += buffer.withBytes { Array($0) }
        #expect(taken == appended)
        buffer.removeAll()
        #expect(buffer.isEmpty && buffer.withBytes(\.count) == 0)
    }

    // A blocking terminal takes 64 bytes at a time.
    @Test(.limited)
    func `Sending a frame in small pieces takes time that grows with its bytes and not their square`() {
        func time(_ count: Int) -> Double {
            (0..<5).map { _ in
                let start = clock()
                var buffer = SendBuffer()
                buffer.append([UInt8](repeating: 1, count: count))
                while !buffer.isEmpty { buffer.removeFirst(min(64, buffer.withBytes(\.count))) }
                return Double(clock() - start)
            }.min() ?? 0
        }
        // Four times the bytes: four times the time, or sixteen times if each piece moves all bytes.
        #expect(time(4 << 20) < 10 * time(1 << 20))
    }

    /// The processor time of this thread, in nanoseconds.
    private func clock() -> Int {
        var time = timespec()
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        return time.tv_sec * 1_000_000_000 + time.tv_nsec
    }
}
