// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

internal import CLinuxKernel
internal import RunLoops

/// What is asked of one thread must be answered before another is asked: there is one signal, and one answer.
private let turn = Lock()

/// Takes the stacks of other threads of this process.
///
/// Belongs to one thread; others may have samplers of their own.
final class StackSampler {
    /// One look at a thread.
    struct Sample {
        /// Program counters, innermost first; empty where the stack could not be taken.
        var counters: [UInt64] = []
        /// What the thread waited for; `nil` if it ran, or nobody knows.
        var wait: RunLoop.HangWatch.Cause.Wait?
        /// Whether it ran, or would have with a processor.
        var isRunning = false
    }

    /// Deeper stacks lose their outer part, and with it the callout.
    private static let mostFrames = 256
    /// A thread that runs answers at once; one without a processor is not waited for.
    private static let patience: Int64 = 20_000_000

    private let signal: CInt
    // SAFETY: one sample, given back in deinit. 64 KiB, which are touched as far as a stack reaches.
    private let buffer = UnsafeMutablePointer<rl_stack_sample>.allocate(capacity: 1)

    /// Takes the signal for the process, or says that it is taken.
    static func start(signal: CInt?) throws(RunLoop.SystemCallError) -> CInt {
        try check("sigaction", turn.withLock { rl_sampling_start(signal ?? 0) })
    }

    init(signal: CInt) { self.signal = signal }

    deinit { buffer.deallocate() }

    /// Lets the calling thread be sampled, and says where its stack ends.
    ///
    /// The signal is nobody else's: to let it through changes nothing for what the thread blocks signals for.
    static func join() -> UInt64 {
        rl_sampling_allow()
        return rl_stack_end()
    }

    /// Looks at a thread whose stack ends there.
    func sample(_ thread: Int32, stackEnd: UInt64) -> Sample {
        let probe = ThreadProbe(thread: thread)
        switch probe.state {
        case .running:
            guard !probe.blocks(signal: signal),
                turn.withLock({ rl_sample_running(thread, stackEnd, Self.patience, buffer) }) == 0
            else { return Sample(isRunning: true) }
            return Sample(counters: unwound(), isRunning: true)
        case .waiting(let call, let stackPointer, let counter):
            let wait = RunLoop.HangWatch.Cause.Wait(call: call)
            guard rl_sample_waiting(stackPointer, counter, stackEnd, buffer) == 0 else { return Sample(wait: wait) }
            return Sample(counters: unwound(), wait: wait)
        case .unknown: return Sample()
        }
    }

    /// What a thread does, without its stack.
    static func sampleWithoutStack(_ thread: Int32) -> Sample {
        switch ThreadProbe(thread: thread).state {
        case .running: Sample(isRunning: true)
        case .waiting(let call, _, _): Sample(wait: RunLoop.HangWatch.Cause.Wait(call: call))
        case .unknown: Sample()
        }
    }

    private func unwound() -> [UInt64] {
        [UInt64](unsafeUninitializedCapacity: Self.mostFrames) { counters, count in
            // SAFETY: the buffer has room for as many.
            count = rl_unwind(buffer, counters.baseAddress.unsafelyUnwrapped, counters.count)
        }
    }
}
