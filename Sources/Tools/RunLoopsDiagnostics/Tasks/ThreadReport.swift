// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

internal import CRunLoopsKernel
internal import CRunLoopsStackSampling
internal import RunLoops
internal import RunLoopsLibC
internal import RunLoopsSystem

/// One thread of a process, with its stack.
package struct ThreadReport: Sendable {
    package var number: Int32
    /// The thread's name as the kernel knows it.
    package var name: String
    /// The state in words: that the thread runs, or what it waits for.
    package var state: String
    /// The functions that the thread is in, innermost first; empty if the stack could not be read.
    package var stack: [String]

    /// The maximum number of threads that are read; a process may have 32,768 and more.
    private static let maxThreads = 512

    /// Reads the threads of a process, except the calling thread.
    ///
    /// The stack of a thread that runs is read only in this process, and only if the thread does not block the sampling
    /// signal and gets a processor within a second. No thread is stopped.
    ///
    /// - Parameter process: This process, or one that it may trace.
    /// - Returns: The threads by number; empty if the process has ended or may not be read.
    /// - Complexity: O(n) in the threads; the names of functions cost a search in the symbols of their files.
    package static func threads(of process: Int32) -> [ThreadReport] {
        guard let reader = ThreadReader(process) else { return [] }
        let own = SystemCalls.threadID
        return reader.numbers.filter { $0 != own }.prefix(maxThreads).map(reader.thread)
    }

    /// Takes a free real-time signal, so that threads which call ``join()`` can be sampled while they run.
    package static func prepare() { _ = try? StackSampler.start(signal: nil) }

    /// Lets the calling thread be sampled while it runs, after ``prepare()``.
    package static func join() { _ = rl_sampling_join() }

    /// Lines about threads: those with the same name, state and stack are described once.
    package static func lines(_ threads: [ThreadReport]) -> [String] {
        var groups: [(first: ThreadReport, count: Int)] = []
        for thread in threads {
            let index = groups.firstIndex {
                $0.first.name == thread.name && $0.first.state == thread.state && $0.first.stack == thread.stack
            }
            if let index { groups[index].count += 1 } else { groups.append((thread, 1)) }
        }
        return groups.flatMap { first, count in
            let more = count > 1 ? " and \(count - 1) like it" : ""
            return ["thread \(first.number) \"\(first.name)\"\(more): \(first.state)"] + first.stack.map { "    \($0)" }
        }
    }
}

/// Reads the threads of one process.
///
/// Used by one thread.
private final class ThreadReader {
    private static let maxFrames = 128
    /// The attempts to sample a thread that runs: beside twenty others, a thread waits longer for a processor than one takes.
    private static let attempts = 6

    private let process: Int32
    private let memory: ProcessMemory
    private let sampler: StackSampler?
    private let symbolizer: Symbolizer
    /// The code of another process.
    private let code: LoadedCode?
    // SAFETY: one sample, given back in deinit.
    private let buffer = UnsafeMutablePointer<rl_stack_sample>.allocate(capacity: 1)

    init?(_ process: Int32) {
        guard let memory = try? ProcessMemory(of: process) else { return nil }
        self.process = process
        self.memory = memory
        symbolizer = memory.symbolizer
        // Without a free signal only the stacks of threads that wait are known.
        sampler =
            memory.isOwn
            ? StackSampler(signal: (try? StackSampler.start(signal: nil)) ?? 0, attempts: Self.attempts) : nil
        code = memory.isOwn ? nil : TaskReport.code(memory.list, memory)
    }

    deinit { buffer.deallocate() }

    /// The numbers of the threads, in ascending order.
    var numbers: [Int32] {
        var numbers: [Int32] = []
        // Not /proc/thread-self, which is one thread's folder.
        let directory = SystemText(prefixOf: "/proc/\(process)/task".utf8).withCString { rl_directory_open($0) }
        guard directory >= 0 else { return [] }
        defer { _ = rl_close(directory) }
        _ = DirectoryEntries.read(directory) { name, _ in
            if let number = Int32(name.decoded) { numbers.append(number) }
            return true
        }
        return numbers.sorted()
    }

    func thread(_ number: Int32) -> ThreadReport {
        let probe = ThreadProbe(thread: number, process: memory.isOwn ? nil : process)
        let sample = sampler?.sample(number, stackEnd: .max) ?? outside(probe)
        let code = sample.code ?? self.code
        let stack = sample.counters.enumerated().compactMap { depth, counter -> String? in
            guard let code else { return nil }
            // A return address may be the first of the next function.
            let symbol = symbolizer.symbol(at: depth == 0 ? counter : counter &- 1, in: code)
            let place = symbol.module.map { "\($0)+0x\(String(symbol.offset, radix: 16))" }
            return symbol.name.map(TaskFrame.short) ?? place ?? "0x\(String(counter, radix: 16))"
        }
        let running = sampler != nil && stack.isEmpty ? "runs, and its stack could not be taken" : "runs"
        let state = sample.isRunning ? running : sample.wait.map { "waits for \($0)" } ?? "its state is not known"
        return ThreadReport(number: number, name: probe.name, state: state, stack: stack)
    }

    /// Takes a sample of a thread of another process.
    private func outside(_ probe: ThreadProbe) -> StackSampler.Sample {
        let state = probe.state
        var sample = StackSampler.Sample(state)
        guard case .waiting(_, let stackPointer, let counter) = state, let code else { return sample }
        memory.use { copy in
            guard rl_sample_waiting(stackPointer, counter, .max, copy, buffer) == 0 else { return }
            sample.counters = [UInt64](unsafeUninitializedCapacity: Self.maxFrames) { counters, count in
                // SAFETY: the buffer has room for as many.
                count = rl_unwind(
                    buffer, code.codes, code.codes.count, copy, counters.baseAddress.unsafelyUnwrapped, counters.count)
            }
        }
        return sample
    }
}
