// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

internal import CRunLoopsKernel

/// A job, and the role in which the executor got it, in one word.
struct JobReference: Equatable {
    // SAFETY: UnownedJob is one pointer, to memory that is aligned to 16 bytes: the lowest bit is free. The runtime
    // keeps the job until it is run, and the executor runs each once.
    private let bits: UnsafeRawPointer

    @inline(__always)
    init(_ job: UnownedJob, isOfActor: Bool) {
        let pointer = unsafeBitCast(job, to: UnsafeRawPointer.self)
        bits = isOfActor ? pointer + 1 : pointer
    }

    /// A test's own word, which is no job.
    init(number: Int) { bits = UnsafeRawPointer(bitPattern: number).unsafelyUnwrapped }
    var number: Int { Int(bitPattern: bits) }

    /// Enqueued by an actor (a serial executor's job), not by a task that prefers the executor.
    @inline(__always)
    var isOfActor: Bool { number & 1 != 0 }

    @inline(__always)
    var job: UnownedJob { unsafeBitCast(pointer, to: UnownedJob.self) }

    /// Where the job lies: this identifies the job among those that have not been run.
    var pointer: UnsafeRawPointer { bits - (number & 1) }

    /// The present priority of a job that was put in with the given priority.
    func priority(_ enqueued: UInt8) -> UInt8 { rl_job_priority(pointer, enqueued) }
}
