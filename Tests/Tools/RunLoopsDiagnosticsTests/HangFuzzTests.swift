// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import CRunLoopsStackSampling
import Glibc
import RunLoopsSystem
import RunLoopsTestSupport
import Testing

@testable import RunLoopsDiagnostics

/// How many spoilt inputs each reader gets: more with `RUNLOOPS_FUZZ=1000000`.
private let inputs = fuzzedInputs(orElse: 20_000)

extension SeededRandom {
    /// Spoils some numbers of `bytes`, often in one of the places.
    fileprivate mutating func spoil(_ bytes: inout [UInt8], _ places: [Range<Int>]) {
        for _ in 0..<Int.random(in: 1...8, using: &self) {
            let place = places.randomElement(using: &self)!
            let at = Int.random(in: place, using: &self)
            let size = [1, 2, 4, 8].randomElement(using: &self)!
            let small = UInt64.random(in: 0...0x2000, using: &self)
            let word = [0, .max, .max >> 1, small, 0 &- small, next()].randomElement(using: &self)!
            for index in at..<min(at + size, bytes.count) {
                bytes[index] = UInt8(truncatingIfNeeded: word >> UInt64(8 * (index - at)))
            }
        }
    }
}

/// What the kernel maps into each process: a small library, with all that the readers read.
private struct Sample {
    let code: rl_code
    let base: UInt64
    let bytes: [UInt8]
    let functions: [UInt64]

    init() throws {
        let loaded = LoadedCode.now()
        let mapping = try #require(
            loaded.codes.lazy.compactMap { loaded.mapping(at: $0.start) }.first { $0.path.decoded == "[vdso]" })
        (code, base) = (mapping.code, mapping.base)
        bytes = [UInt8](memory: base, count: Int(mapping.code.end - base))
        let bias = code.bias
        functions = try #require(ELFFile(at: base)).functions().map { $0.start &+ bias }
    }
}

@Suite("Symbols of a damaged library", .ownThread)
struct HangFuzzTests {
    @Test func `symbols of a damaged library are read or left out without a trap`() throws {
        let sample = try Sample()
        var random = SeededRandom(13)
        let file = try #require(ELFFile { offset, count in Array(sample.bytes.dropFirst(Int(offset)).prefix(count)) })
        #expect(file.functions().map(file.name).contains { $0.text.contains("clock_gettime") }, "before it is spoilt")
        let sections = Int(sample.bytes[40]) | Int(sample.bytes[41]) << 8
        let places = [0..<64, 0..<sample.bytes.count, sections..<sample.bytes.count]
        var found = 0
        for _ in 0..<inputs {
            var bytes = sample.bytes
            random.spoil(&bytes, places)
            if Bool.random(using: &random) { bytes.removeLast(Int.random(in: 0..<bytes.count, using: &random)) }
            let file = ELFFile { offset, count in
                guard let start = Int(exactly: offset), start < bytes.count else { return [] }
                return Array(bytes[start..<min(bytes.count, start + count)])
            }
            guard let file else { continue }
            var code = sample.code
            file.place(&code, base: random.next())
            let functions = file.functions()
            let start: UInt64 = functions.randomElement(using: &random)?.start ?? 1
            for address in [0, random.next(), start] {
                guard let function = functions.function(at: address) else { continue }
                #expect(function.start <= address)
                _ = Symbolizer.readable(file.name(of: function))
                found += 1
            }
        }
        #expect(found > inputs / 10, "most were spoilt before any function was read")
    }

    @Test func `a stack is unwound as far as the symbols of a damaged library are intact`() throws {
        let sample = try Sample()
        try #require(sample.code.index_size > 0)
        let index = Int(sample.code.index - sample.base)
        // The tables follow their index.
        let tables = index..<min(index + 4096, sample.bytes.count)
        var random = SeededRandom(14)
        let stack = UnsafeMutablePointer<rl_stack_sample>.allocate(capacity: 1)
        defer { stack.deallocate() }
        var counters = [UInt64](repeating: 0, count: 256)
        var frames = 0
        for _ in 0..<inputs {
            var bytes = sample.bytes
            random.spoil(&bytes, [tables, index..<index + 16, tables])
            fill(stack, sample, &random)
            var code = sample.code
            if UInt8.random(in: 0..<16, using: &random) == 0 { code.index_size = random.next() }
            frames += bytes.withUnsafeBytes { bytes in
                image = (sample.base, bytes)
                return rl_unwind(stack, &code, 1, copyImage, &counters, counters.count)
            }
        }
        #expect(frames > inputs * 5 / 4, "most were spoilt before any frame was left")
    }

    /// A stack full of addresses of the sample's code, and of the stack.
    private func fill(_ stack: UnsafeMutablePointer<rl_stack_sample>, _ sample: Sample, _ random: inout SeededRandom) {
        let start: UInt64 = 0x7000_0000_0000
        func code(_ random: inout SeededRandom) -> UInt64 {
            sample.functions.randomElement(using: &random)! + .random(in: 0..<64, using: &random)
        }
        stack.pointee.stack = start
        stack.pointee.size = 8 * .random(in: 0...128, using: &random)
        stack.pointee.known = Bool.random(using: &random) ? 1 << RL_STACK_POINTER : .max >> 32
        stack.pointee.counter = code(&random)
        withUnsafeMutableBytes(of: &stack.pointee.registers) { registers in
            for register in registers.bindMemory(to: UInt64.self).indices {
                registers.bindMemory(to: UInt64.self)[register] = start + 8 * .random(in: 0...64, using: &random)
            }
        }
        // Swift does not import an array of that length; it is the last member.
        let words = UnsafeMutableRawPointer(stack + 1).assumingMemoryBound(to: UInt64.self) - Int(RL_SAMPLE_BYTES / 8)
        for word in 0..<128 {
            words[word] = Bool.random(using: &random) ? code(&random) : start + 16 * .random(in: 0...64, using: &random)
        }
    }
}

/// The memory that the image below consists of.
nonisolated(unsafe) private var image: (base: UInt64, bytes: UnsafeRawBufferPointer) = (0, .init(start: nil, count: 0))

private let copyImage: rl_copy = { address, to, size in
    guard address >= image.base, address - image.base < UInt64(image.bytes.count), let to else { return 0 }
    let start = Int(address - image.base)
    let count = min(size, image.bytes.count - start)
    // SAFETY: so many bytes are there, and there is room for `size`.
    to.copyMemory(from: image.bytes.baseAddress! + start, byteCount: count)
    return count
}
