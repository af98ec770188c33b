// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

internal import CRunLoopsStackSampling
internal import RunLoops

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
    /// How long a sample of a running thread is waited for, in nanoseconds: a running thread answers at its next tick,
    /// a thread without a processor may not answer at all.
    private static let patience: Int64 = 20_000_000

    private let signal: CInt
    private var code: LoadedCode?
    // SAFETY: one sample, given back in deinit. 64 KiB, which are touched as far as a stack reaches.
    private let buffer = UnsafeMutablePointer<rl_stack_sample>.allocate(capacity: 1)

    /// Sets the process's handler of the signal, or of the highest free real-time signal with `nil`; throws `EBUSY` if
    /// other code handles the signal.
    static func start(signal: CInt?) throws(RunLoop.SystemCallError) -> CInt {
        try check("sigaction", rl_sampling_start(signal ?? 0))
    }

    init(signal: CInt) { self.signal = signal }

    deinit { buffer.deallocate() }

    /// Takes a sample of a thread; `stackEnd` is the upper end of the thread's stack.
    func sample(_ thread: Int32, stackEnd: UInt64) -> Sample {
        let probe = ThreadProbe(thread: thread)
        if probe.state == .running, !probe.blocks(signal: signal),
            rl_sample_running(thread, stackEnd, Self.patience, buffer) == 0
        {
            return unwound(Sample(.running))
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
