// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import Glibc
import RunLoopsTestSupport

@testable import RunLoops

/// Runs `body` on a thread of its own with a loop on the real kernel, built from the given parts, as that thread's own.
///
/// At the end the loop is torn down as at the end of a thread.
@discardableResult
func withRealLoop<Result: Sendable, Failure: Error>(
    calls: any KernelCalls = LinuxCalls.shared, fineWait: FineWait = .nanosecondCall,
    _ body: @escaping @Sendable (RunLoop) throws(Failure) -> Result
) throws(Failure) -> Result {
    try TestThread.run { () throws(Failure) -> Result in
        let kernel = EpollKernel(calls: calls, fineWait: fineWait)
        let loop = RunLoop(kernel: kernel, threadID: SystemCalls.threadID)
        let outer = RunLoop.replaceCurrent(with: loop)
        defer {
            loop.threadEnds()
            _ = RunLoop.replaceCurrent(with: outer)
        }
        return try body(loop)
    }
}
