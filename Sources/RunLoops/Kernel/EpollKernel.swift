// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

/// The kernel of Linux: a futex where a mode has no descriptors, epoll where it has some.
package final class EpollKernel: Kernel, @unchecked Sendable {
    let waker: EpollWaker

    package init(calls: any KernelCalls = LinuxCalls.shared, fineWait: FineWait = .nanosecondCall) {
        waker = EpollWaker(calls: calls, fineWait: fineWait)
    }

    package func now(_ base: RunLoop.TimeBase) -> Int64 { SystemCalls.now(base) }

    package func makeReadiness() -> any Readiness { EpollReadiness(waker: waker) }

    package func wake(_ word: borrowing WakeWord, _ phase: WakeWord.Phase) { waker.wake(word, phase) }
}
