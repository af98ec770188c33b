// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import CLinuxKernel
import Glibc
import RunLoops
import RunLoopsTestSupport
import Testing

@testable import RunLoopsDiagnostics

/// A thread that does the deeds it is given, in functions of its own.
private final class Victim: @unchecked Sendable {
    enum Deed { case spin, nap, longNap, wait }

    private let deed: Deed
    private let isDone = Locked(false)
    private let number = Locked<Int32>(0)
    private let end = Locked<UInt64>(0)
    private let interrupted = Locked(false)
    private var handle: TestThread?

    init(_ deed: Deed) {
        self.deed = deed
        handle = TestThread { self.run() }
        while number.copy == 0 { sched_yield() }
    }

    var thread: Int32 { number.copy }
    var stackEnd: UInt64 { end.copy }
    /// Whether a nap was shorter than it should have been.
    var wasInterrupted: Bool { interrupted.copy }

    func finish() {
        isDone.withLock { $0 = true }
        handle?.join()
    }

    private func run() {
        end.withLock { $0 = StackSampler.join() }
        number.withLock { $0 = SystemCalls.threadID }
        while !isDone.copy {
            switch deed {
            case .spin: spinsForTheTest(50_000)
            case .nap: _ = napsForTheTest(100_000)
            case .longNap:
                if !napsForTheTest(900_000) { interrupted.withLock { $0 = true } }
                return
            case .wait: waitsForTheTest()
            }
        }
    }
}

@inline(never)
private func spinsForTheTest(_ count: Int) {
    var value = count
    withUnsafeMutablePointer(to: &value) { pointer in
        // Through memory, so that the compiler does not remove the loop.
        while pointer.pointee > 0 { pointer.pointee -= rl_thread_id() == 0 ? 2 : 1 }
    }
}

@inline(never)
private func napsForTheTest(_ time: UInt32) -> Bool { usleep(time) == 0 }

@inline(never)
private func waitsForTheTest() { poll(nil, 0, 100) }

// The sampler serves one caller at a time.
@Suite("The stack of another thread", .serialized, .timeLimit(.minutes(10)))
struct StackSamplerTests {
    /// Samples until one has a function with that name, and says for what the thread waited then.
    private func find(_ name: String, _ deed: Victim.Deed) throws -> RunLoop.HangWatch.Cause.Wait? {
        let sampler = StackSampler(signal: try StackSampler.start(signal: nil))
        let symbolizer = Symbolizer()
        let victim = Victim(deed)
        defer { victim.finish() }
        while true {
            let sample = sampler.sample(victim.thread, stackEnd: victim.stackEnd)
            let names = sample.counters.map { symbolizer.symbol(at: $0 - 1).name ?? "" }
            guard names.contains(where: { $0.contains(name) }) else { continue }
            return sample.wait
        }
    }

    @Test(.enabled(if: dlsym(nil, "__tsan_init") == nil, "the thread sanitizer holds signals back"))
    func `that computes`() throws { #expect(try find("spinsForTheTest", .spin) == nil) }

    @Test func `that sleeps, which goes on sleeping`() throws {
        #expect(try find("napsForTheTest", .nap) == .sleep)
    }

    @Test func `that waits for descriptors`() throws { #expect(try find("waitsForTheTest", .wait) == .descriptors) }

    @Test func `does not end naps, however often it is taken`() throws {
        let sampler = StackSampler(signal: try StackSampler.start(signal: nil))
        let victim = Victim(.longNap)
        // Before it sleeps it may be sent the signal.
        while StackSampler.sampleWithoutStack(victim.thread).wait != .sleep { sched_yield() }
        var samples = 0
        while samples < 10_000, sampler.sample(victim.thread, stackEnd: victim.stackEnd).wait == .sleep { samples += 1 }
        victim.finish()
        #expect(samples > 0 && !victim.wasInterrupted)
    }

    @Test func `of a thread that has ended is none`() throws {
        let sampler = StackSampler(signal: try StackSampler.start(signal: nil))
        let victim = Victim(.spin)
        victim.finish()
        #expect(sampler.sample(victim.thread, stackEnd: victim.stackEnd).counters.isEmpty)
    }

    @Test func `a signal that something handles is refused, and so is a second signal`() throws {
        let own = try StackSampler.start(signal: nil)
        #expect(try StackSampler.start(signal: own) == own)
        #expect(throws: RunLoop.SystemCallError(call: "sigaction", code: EBUSY)) {
            try StackSampler.start(signal: own - 1)
        }
        var options = RunLoop.HangWatch.Options()
        options.signal = own - 1
        #expect(throws: RunLoop.HangWatch.Refusal.signalIsTaken(own - 1)) {
            try RunLoop.HangWatch(options: options) { _ in }
        }
    }
}

@Suite("Names of functions")
struct SymbolizerTests {
    @Test func `what the optimiser has done to a function is left off`() {
        #expect(Symbolizer.plain("A.b() -> ()") == "A.b() -> ()")
        #expect(
            Symbolizer.plain(
                "merged function signature specialization <Arg[1] = [Closure : () -> ()]> of closure #1 () -> () in A.b()"
            )
                == "closure #1 () -> () in A.b()")
        #expect(Symbolizer.plain("generic specialization <Swift.Array<A.B>> of A.b<C>(C)") == "A.b<C>(C)")
        #expect(Symbolizer.plain("generic specialization <never closed") == "<never closed")
    }

    @Test func `names that are not Swift's stay`() {
        #expect(Symbolizer.readable("clock_nanosleep") == "clock_nanosleep")
    }

    @Test func `an address outside of everything has no name`() {
        #expect(Symbolizer().symbol(at: 8).name == nil)
    }

    @Test func `a file that is no program has no functions`() {
        #expect(ELFSymbols(path: "/proc/self/cmdline") == nil)
        #expect(ELFSymbols(path: "/nonexistent") == nil)
        #expect(ELFSymbols(path: "/dev/null") == nil)
        #expect(ELFSymbols(path: "/etc/passwd") == nil)
    }

    @Test func `a program that is cut off, or scrambled, does no harm`() throws {
        var program = try Self.bytes("/proc/self/exe", 1 << 16)
        try #require(program.count == 1 << 16)
        // The section table stands at the end of the file, and is cut off with it.
        for length in [5, 63, 64, 4096, program.count] {
            Self.with(Array(program.prefix(length))) { #expect($0 == nil, "the first \(length) bytes have functions") }
        }
        // A section table anywhere, of any size.
        for seed in 0..<200 {
            for offset in 40..<64 { program[offset] = UInt8(truncatingIfNeeded: (seed * 31 + offset) &* 167 >> 3) }
            Self.with(program) { symbols in
                guard let function = symbols?.function(at: 4096) else { return }
                #expect(function.start <= 4096, "\(function) of seed \(seed) begins behind the address")
            }
        }
    }

    private static func bytes(_ path: String, _ count: Int) throws -> [UInt8] {
        let file = try #require(fopen(path, "re"))
        defer { fclose(file) }
        var bytes = [UInt8](repeating: 0, count: count)
        let read = fread(&bytes, 1, count, file)
        return Array(bytes.prefix(read))
    }

    private static func with(_ bytes: [UInt8], _ body: (ELFSymbols?) -> Void) {
        var template = Array("/tmp/run-loops-elf-XXXXXX".utf8CString)
        let file = mkstemp(&template)
        defer {
            close(file)
            unlink(template)
        }
        _ = write(file, bytes, bytes.count)
        body(ELFSymbols(path: template.withUnsafeBufferPointer { String(cString: $0.baseAddress.unsafelyUnwrapped) }))
    }
}
