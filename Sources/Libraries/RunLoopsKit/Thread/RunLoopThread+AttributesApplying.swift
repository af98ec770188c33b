// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

internal import CRunLoopsKernel
internal import RunLoops

extension RunLoopThread.Attributes {
    /// Gives the calling thread the attributes that are set from inside: all attributes except the size of the stack.
    func apply() throws(RunLoop.SystemCallError) {
        // Never ERANGE, because the name fits.
        _ = rl_thread_set_name(kernelName)
        if let processors {
            let numbers = processors.sorted().map { Int32(clamping: $0) }
            try check("sched_setaffinity", rl_thread_set_processors(numbers, numbers.count))
        }
        if let nice { try check("setpriority", rl_thread_set_nice(Int32(clamping: nice))) }
        if let (schedule, priority) = schedulingClass.numbers {
            try check("sched_setscheduler", rl_thread_set_schedule(schedule, priority))
        }
    }
}

extension RunLoopThread.Attributes.SchedulingClass {
    fileprivate var numbers: (schedule: CInt, priority: CInt)? {
        switch self {
        case .inherited: nil
        case .normal: (CInt(RL_SCHEDULE_NORMAL), 0)
        case .batch: (CInt(RL_SCHEDULE_BATCH), 0)
        case .idle: (CInt(RL_SCHEDULE_IDLE), 0)
        case .firstInFirstOut(let priority): (CInt(RL_SCHEDULE_FIFO), CInt(clamping: priority))
        case .roundRobin(let priority): (CInt(RL_SCHEDULE_ROUND_ROBIN), CInt(clamping: priority))
        }
    }
}
