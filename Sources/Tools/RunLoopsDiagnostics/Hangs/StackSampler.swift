// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

internal import CStackSampling
internal import RunLoops

/// Takes the stacks of other threads of this process.
///
/// Belongs to one thread; others may have samplers of their own.
final class StackSampler {
    /// One look at a thread.
    struct Sample {
        /// Program counters, innermost first; empty where the stack could not be taken.
        var counters: [UInt64] = []
        /// The code that was mapped when the samples were taken.
        var code: LoadedCode?
        /// The wait of the thread; `nil` if the thread ran, or if that is not known.
        var wait: RunLoop.HangWatch.Cause.Wait?
        /// Whether the thread ran, or was ready and waited for a processor.
        var isRunning = false

        /// Without its stack.
        init(_ state: ThreadProbe.State) {
            switch state {
            case .running: isRunning = true
            case .waiting(let call, _, _): wait = RunLoop.HangWatch.Cause.Wait(call: call)
            case .unknown: break
            }
        }
    }

    /// Deeper stacks lose their outer part, and with it the callout.
    private static let mostFrames = 256
    /// The kernel answers for a thread that runs at its next tick; a thread without a processor is not waited for.
    private static let patience: Int64 = 20_000_000

    private let signal: CInt
    private var code: LoadedCode?
    // SAFETY: one sample, given back in deinit. 64 KiB, which are touched as far as a stack reaches.
    private let buffer = UnsafeMutablePointer<rl_stack_sample>.allocate(capacity: 1)

    /// Takes the signal for the process, or says that it is taken.
    static func start(signal: CInt?) throws(RunLoop.SystemCallError) -> CInt {
        try check("sigaction", rl_sampling_start(signal ?? 0))
    }

    init(signal: CInt) { self.signal = signal }

    deinit { buffer.deallocate() }

    /// Looks at a thread whose stack ends there.
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
            rl_sample_waiting(stackPointer, counter, stackEnd, buffer) == 0
        else { return Sample(state) }
        return unwound(Sample(state))
    }

    private func unwound(_ sample: Sample) -> Sample {
        let code = LoadedCode.now(after: code)
        self.code = code
        var sample = sample
        sample.code = code
        sample.counters = [UInt64](unsafeUninitializedCapacity: Self.mostFrames) { counters, count in
            // SAFETY: the buffer has room for as many.
            count = rl_unwind(
                buffer, code.codes, code.codes.count, rl_copy_memory, counters.baseAddress.unsafelyUnwrapped,
                counters.count)
        }
        return sample
    }
}
