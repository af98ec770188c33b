// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

internal import CRunLoopsStackSampling
internal import RunLoops
internal import RunLoopsLibC

/// Takes the stacks of other threads of this process.
///
/// A sampler is used by one thread; another thread may have a sampler of its own.
final class StackSampler {
    /// One look at a thread.
    struct Sample {
        /// Program counters, innermost first; empty where the stack could not be taken.
        var counters: [UInt64] = []
        /// The code that was mapped when the samples were taken.
        var code: LoadedCode?
        /// The wait of the thread; `nil` if the thread ran, or if its state is not known.
        var wait: RunLoop.HangWatch.Cause.Wait?
        /// Whether the thread ran, or was ready and waited for a processor.
        var isRunning = false

        /// Makes a sample of a thread's state, without its stack.
        init(_ state: ThreadProbe.State) {
            switch state {
            case .running: isRunning = true
            case .waiting(let call, _, _): wait = RunLoop.HangWatch.Cause.Wait(call: call)
            case .unknown: break
            }
        }
    }

    /// The maximum number of frames of a stack; a deeper stack loses its outermost frames, and the callout with them.
    private static let maxFrames = 256
    /// The time limit of the first attempt to sample a running thread, in nanoseconds; each further one has twice the time.
    private static let attemptTime: Int64 = 20_000_000

    private let signal: CInt
    private let attempts: Int
    private var code: LoadedCode?
    // SAFETY: one sample, given back in deinit. 64 KiB, which are touched as far as a stack reaches.
    private let buffer = UnsafeMutablePointer<rl_stack_sample>.allocate(capacity: 1)

    /// Sets the process's handler of the signal, or of the highest free real-time signal with `nil`; throws `EBUSY` if
    /// other code handles the signal.
    static func start(signal: CInt?) throws(RunLoop.SystemCallError) -> CInt {
        try check("sigaction", rl_sampling_start(signal ?? 0))
    }

    /// Creates a sampler that uses the signal of ``start(signal:)``.
    ///
    /// A thread that runs answers at its next tick on a processor, if it is not preempted at that tick, and otherwise when
    /// it runs again. An attempt must last that long; a thread that has gone to sleep ends the attempts.
    ///
    /// - Parameter attempts: The number of attempts to sample a thread that runs: three of 140 ms together, six of 1.3 s.
    init(signal: CInt, attempts: Int = 3) { (self.signal, self.attempts) = (signal, attempts) }

    deinit { buffer.deallocate() }

    /// Takes a sample of a thread; `stackEnd` is the upper end of the thread's stack.
    func sample(_ thread: Int32, stackEnd: UInt64) -> Sample {
        let probe = ThreadProbe(thread: thread)
        for attempt in 0..<attempts {
            guard probe.state == .running, !probe.blocks(signal: signal) else { break }
            let result = rl_sample_running(thread, stackEnd, Self.attemptTime << attempt, buffer)
            if result == 0 { return unwound(Sample(.running)) }
            guard result == -ETIMEDOUT else { break }
        }
        // A thread that was asked and has not answered may have gone to sleep meanwhile.
        let state = probe.state
        guard case .waiting(_, let stackPointer, let counter) = state,
            rl_sample_waiting(stackPointer, counter, stackEnd, rl_copy_memory, buffer) == 0
        else { return Sample(state) }
        return unwound(Sample(state))
    }

    private func unwound(_ sample: Sample) -> Sample {
        let code = LoadedCode.now(after: code)
        self.code = code
        var sample = sample
        sample.code = code
        sample.counters = [UInt64](unsafeUninitializedCapacity: Self.maxFrames) { counters, count in
            // SAFETY: the buffer has room for as many.
            count = rl_unwind(
                buffer, code.codes, code.codes.count, rl_copy_memory, counters.baseAddress.unsafelyUnwrapped,
                counters.count)
        }
        return sample
    }
}
