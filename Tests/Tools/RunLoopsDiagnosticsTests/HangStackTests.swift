// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import CRunLoopsKernel
import CRunLoopsStackSampling
import Glibc
import RunLoops
import RunLoopsSystem
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
        end.withLock { $0 = rl_sampling_join() }
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
@Suite("The stack of another thread", .ownThread, .serialized)
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
            // On a busy machine any thread may wait for a page of memory, which is no system call.
            guard names.contains(where: { $0.contains(name) }), sample.wait != .other(call: -1) else { continue }
            return sample.wait
        }
    }

    /// A function that has made room in a page of its stack, and has not written to it, has its pointer where nothing is yet.
    @Test func `If the stack pointer is in an unreadable page, the copy of the stack begins with the next page`() throws
    {
        let page = 4096
        let memory = try #require(mmap(nil, 3 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0))
        defer { munmap(memory, 3 * page) }
        mprotect(memory, page, PROT_NONE)
        let start = UInt64(UInt(bitPattern: memory))
        let end = start + UInt64(3 * page)
        let sample = UnsafeMutablePointer<rl_stack_sample>.allocate(capacity: 1)
        defer { sample.deallocate() }
        #expect(rl_sample_waiting(start + UInt64(page) - 16, 1, end, rl_copy_memory, sample) == 0)
        #expect(sample.pointee.stack == start + UInt64(page))
        #expect(sample.pointee.size == UInt64(2 * page))
        // Where nothing is in the next page either, there is no stack.
        mprotect(memory, 3 * page, PROT_NONE)
        #expect(rl_sample_waiting(start + UInt64(page) - 16, 1, end, rl_copy_memory, sample) == -EFAULT)
        #expect(sample.pointee.size == 0)
    }

    @Test(.enabled(if: dlsym(nil, "__tsan_init") == nil, "the thread sanitizer holds signals back"))
    func `the stack of another thread is found while the thread computes`() throws {
        #expect(try find("spinsForTheTest", .spin) == nil)
    }

    @Test(.enabled(if: dlsym(nil, "__tsan_init") == nil, "the thread sanitizer holds signals back"))
    func `the stack of a thread is found that waits for a processor most of the time`() throws {
        // A thread for each sample: one that is still in the handler of the sample before blocks the signal.
        for _ in 0..<5 {
            let victim = Victim(.spin)
            let rival = Victim(.spin)
            defer {
                victim.finish()
                rival.finish()
            }
            try #require(starve(victim.thread, beside: rival.thread))
            let sampler = StackSampler(signal: try StackSampler.start(signal: nil), attempts: 16)
            let sample = sampler.sample(victim.thread, stackEnd: victim.stackEnd)
            // On a busy machine any thread may wait for a page of memory, which is no system call.
            #expect(!sample.counters.isEmpty || sample.wait == .other(call: -1))
        }
    }

    @Test func `the stack of another thread is found while the thread sleeps, and the sleep does not end`() throws {
        #expect(try find("napsForTheTest", .nap) == .sleep)
    }

    @Test func `the stack of another thread is found while the thread waits for descriptors`() throws {
        #expect(try find("waitsForTheTest", .wait) == .descriptors)
    }

    @Test func `a thread may be sampled any number of times without ending its sleep`() throws {
        let sampler = StackSampler(signal: try StackSampler.start(signal: nil))
        let victim = Victim(.longNap)
        // Before it sleeps it may be sent the signal.
        while StackSampler.Sample(ThreadProbe(thread: victim.thread).state).wait != .sleep { sched_yield() }
        var samples = 0
        while samples < 10_000, sampler.sample(victim.thread, stackEnd: victim.stackEnd).wait == .sleep { samples += 1 }
        victim.finish()
        #expect(samples > 0 && !victim.wasInterrupted)
    }

    @Test func `a thread may be sampled while it ends`() throws {
        let sampler = StackSampler(signal: try StackSampler.start(signal: nil))
        for _ in 0..<100 {
            let number = Locked<Int32>(0)
            let thread = TestThread {
                _ = rl_sampling_join()
                number.withLock { $0 = SystemCalls.threadID }
                spinsForTheTest(20_000)
            }
            while number.copy == 0 { sched_yield() }
            // Whatever the thread does at that moment.
            for _ in 0..<4 { #expect(sampler.sample(number.copy, stackEnd: 0).counters.count < 256) }
            thread.join()
        }
    }

    @Test func `a sample of a thread that has ended is empty`() throws {
        let sampler = StackSampler(signal: try StackSampler.start(signal: nil))
        let victim = Victim(.spin)
        victim.finish()
        #expect(sampler.sample(victim.thread, stackEnd: victim.stackEnd).counters.isEmpty)
    }

    @Test func `a second sampling signal is refused by StackSampler and by HangWatch`() throws {
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

    @Test func `HangWatch refuses a directory whose path contains a zero byte`() {
        var options = RunLoop.HangWatch.Options()
        options.directory = "/tmp\0reports"
        #expect(
            throws: RunLoop.HangWatch.Refusal.directory("/tmp\0reports", .init(call: "access", code: EINVAL))
        ) {
            try RunLoop.HangWatch(options: options) { _ in }
        }
    }
}

@Suite("Names of functions", .ownThread)
struct SymbolizerTests {
    @Test func `the optimiser's additions to a function's name are removed`() {
        #expect(Symbolizer.plain("A.b() -> ()") == "A.b() -> ()")
        #expect(
            Symbolizer.plain(
                "merged function signature specialization <Arg[1] = [Closure : () -> ()]> of closure #1 () -> () in A.b()"
            )
                == "closure #1 () -> () in A.b()")
        #expect(Symbolizer.plain("generic specialization <Swift.Array<A.B>> of A.b<C>(C)") == "A.b<C>(C)")
        #expect(Symbolizer.plain("generic specialization <never closed") == "<never closed")
    }

    @Test func `names of C functions are kept`() {
        #expect(Symbolizer.readable(.init(text: "clock_nanosleep", isCut: false)) == "clock_nanosleep")
    }

    @Test func `an address outside all libraries has no name`() {
        #expect(Symbolizer().symbol(at: 8).name == nil)
    }

    @Test func `a file that is not an ELF file is refused`() {
        for path in ["/proc/self/cmdline", "/nonexistent", "/dev/null", "/etc/passwd", "/", "/dev/zero"] {
            #expect(ELFFile(path: SystemText(prefixOf: path.utf8)) == nil, "\(path)")
        }
    }

    @Test func `an unloaded library has no names`() {
        let symbolizer = Symbolizer()
        let address = UInt64(UInt(bitPattern: dlsym(nil, "getenv")))
        let before = LoadedCode.now()
        #expect(symbolizer.symbol(at: address, in: before).name?.contains("getenv") == true)
        #expect(symbolizer.symbol(at: address, in: LoadedCode([])).name == nil)
        #expect(LoadedCode(Array("junk\n7f-6f r-xp 0 0 0 /x\n1-2 r-xp 00 0:0 0 /y\n".utf8)).codes.map(\.start) == [1])
    }

    @Test func `a copy of memory ends at an unreadable page`() {
        // SAFETY: two pages, of which the second may not be read.
        let pages = mmap(nil, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)!
        defer { munmap(pages, 8192) }
        mprotect(pages + 4096, 4096, PROT_NONE)
        let start = UInt64(UInt(bitPattern: pages))
        #expect([UInt8](memory: start + 4000, count: 4096).count == 96)
        #expect([UInt8](memory: start + 4096, count: 4096).isEmpty)
        #expect([UInt8](memory: .max - 100, count: 4096).isEmpty && [UInt8](memory: 0, count: 1).isEmpty)
    }
}
