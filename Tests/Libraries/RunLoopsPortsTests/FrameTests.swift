// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import RunLoops
import RunLoopsTestSupport
import Testing

@testable import RunLoopsPorts

/// The frame reader: bytes in, a frame or an error out.
@Suite(.ownThread) struct FrameTests {
    private func packet(_ frame: Frame, _ body: [UInt8] = []) -> [UInt8] {
        [UInt8](unsafeUninitializedCapacity: frame.headerSize + body.count) { space, count in
            frame.write(to: UnsafeMutableRawBufferPointer(space))
            for (index, byte) in body.enumerated() { space[frame.headerSize + index] = byte }
            count = frame.headerSize + body.count
        }
    }

    private func read(_ packet: [UInt8], received: Int = 0, longest: Int = 64) throws(Frame.Malformation) -> Frame {
        let result = packet.withUnsafeBytes { bytes in
            Result { () throws(Frame.Malformation) in
                try Frame(reading: bytes, received: received, longest: longest, most: 4)
            }
        }
        return try result.get()
    }

    private static let samples: [(Frame, Int)] = [
        (Frame(.welcome, serial: 16, handle: 65536), 0), (Frame(.refused), 0), (Frame(.message, id: -5, length: 3), 0),
        (Frame(.message, descriptors: 2, id: .max, serial: 9, handle: 77), 2),
        (Frame(.reply, descriptors: 4, id: 1, length: 64, serial: .max), 4), (Frame(.noReply, serial: 1), 0),
        (Frame(.introduce, descriptors: 1, handle: .max), 1), (Frame(.retire, handle: 1), 0), (Frame(.crowded), 0),
        (Frame(.message, id: 8, length: 5, thread: 4711), 0),
        (Frame(.introduce, descriptors: 1, handle: 9, thread: .max), 1),
    ]

    @Test(arguments: samples.indices) func `A written frame is read back`(_ index: Int) throws {
        let (frame, received) = Self.samples[index]
        let body = [UInt8](repeating: 7, count: frame.length)
        #expect(try read(packet(frame, body), received: received) == frame)
    }

    @Test func `Each malformation of a frame is reported`() {
        let good = packet(Frame(.message, id: 1, length: 2), [1, 2])
        func damaged(_ offset: Int, _ byte: UInt8) -> [UInt8] {
            var bytes = good
            bytes[offset] = byte
            return bytes
        }
        #expect(throws: Frame.Malformation.short) { try read([]) }
        #expect(throws: Frame.Malformation.short) { try read(Array(good.prefix(31))) }
        #expect(throws: Frame.Malformation.mark) { try read(damaged(0, 0)) }
        #expect(throws: Frame.Malformation.kind(0)) { try read(damaged(4, 0)) }
        #expect(throws: Frame.Malformation.kind(9)) { try read(damaged(4, 9)) }
        #expect(throws: Frame.Malformation.reserved) { try read(damaged(5, 1)) }
        #expect(throws: Frame.Malformation.length) { try read(damaged(12, 3)) }
        #expect(throws: Frame.Malformation.length) { try read(Array(good.dropLast())) }
        #expect(throws: Frame.Malformation.length) { try read(damaged(15, 0xFF)) }
        #expect(throws: Frame.Malformation.tooLong) { try read(good, longest: 1) }
        #expect(throws: Frame.Malformation.descriptors) { try read(good, received: 1) }
        #expect(throws: Frame.Malformation.descriptors) {
            try read(packet(Frame(.message, descriptors: 5)), received: 5)
        }
        #expect(throws: Frame.Malformation.fields) { try read(packet(Frame(.message, serial: 1))) }
        #expect(throws: Frame.Malformation.fields) { try read(packet(Frame(.reply))) }
        #expect(throws: Frame.Malformation.fields) { try read(packet(Frame(.noReply))) }
        #expect(throws: Frame.Malformation.fields) { try read(packet(Frame(.introduce, descriptors: 1)), received: 1) }
        #expect(throws: Frame.Malformation.descriptors) { try read(packet(Frame(.introduce, handle: 3))) }
        #expect(throws: Frame.Malformation.fields) { try read(packet(Frame(.retire))) }
        #expect(throws: Frame.Malformation.fields) { try read(packet(Frame(.welcome))) }
        let threaded = packet(Frame(.message, thread: 7))
        #expect(throws: Frame.Malformation.short) { try read(Array(threaded.prefix(35))) }
        #expect(throws: Frame.Malformation.length) { try read(threaded + [0]) }
        #expect(throws: Frame.Malformation.fields) { try read(packet(Frame(.message, thread: 0))) }
        #expect(throws: Frame.Malformation.fields) { try read(packet(Frame(.message, thread: -7))) }
        #expect(throws: Frame.Malformation.fields) { try read(packet(Frame(.retire, handle: 1, thread: 7))) }
    }

    @Test func `Random input is read or refused by the frame reader`() {
        var random = SeededRandom(4)
        var frames = 0
        var refusals = 0
        let number = fuzzedInputs(orElse: count(1_000_000, orElse: 30_000))
        for _ in 0..<number {
            var bytes = sample(&random)
            let received = mutate(&bytes, &random)
            do {
                let frame = try read(bytes, received: received)
                frames += 1
                // What was understood is within every bound, and means the same when written again.
                let isBounded =
                    frame.length <= 64 && frame.length == bytes.count - frame.headerSize
                    && frame.descriptors == received
                let again = packet(frame, Array(bytes.dropFirst(frame.headerSize)))
                if !isBounded || again != bytes { Issue.record("\(frame) of \(bytes)") }
            } catch { refusals += 1 }
        }
        #expect(frames + refusals == number)
        // Inputs that are all refused, or none, would show nothing.
        #expect(frames > number / 100)
        #expect(refusals > number / 4)
        if isFull { print("frame reader: \(number) inputs, \(frames) frames, \(refusals) refused") }
    }

    private func sample(_ random: inout SeededRandom) -> [UInt8] {
        var frame = Self.samples[Int.random(in: 0..<Self.samples.count, using: &random)].0
        if frame.kind == .message || frame.kind == .reply { frame.length = Int.random(in: 0...70, using: &random) }
        return packet(frame, (0..<frame.length).map { _ in UInt8.random(in: 0...255, using: &random) })
    }

    /// Damages the packet in a few places, and says how many descriptors came with it.
    private func mutate(_ bytes: inout [UInt8], _ random: inout SeededRandom) -> Int {
        let told = bytes.count > 6 ? Int(bytes[6]) : 0
        for _ in 0..<Int.random(in: 0...3, using: &random) where !bytes.isEmpty {
            let place = Int.random(in: 0..<bytes.count, using: &random)
            switch Int.random(in: 0..<6, using: &random) {
            case 0: bytes[place] = UInt8.random(in: 0...255, using: &random)
            case 1: bytes[place] ^= 1 << UInt8.random(in: 0..<8, using: &random)
            case 2: bytes[min(place % 32, bytes.count - 1)] = [0, 1, 0x7F, 0x80, 0xFF][place % 5]
            case 3: bytes.removeLast(bytes.count - place)
            case 4: bytes.append(contentsOf: bytes.prefix(place))
            default: bytes.insert(0, at: place)
            }
        }
        return Int.random(in: 0..<4, using: &random) == 0 ? Int.random(in: 0...6, using: &random) : told
    }
}
