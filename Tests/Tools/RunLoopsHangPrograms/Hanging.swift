// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

// Ways to hang, each a function of its own, whose name the reports have to show.

import Glibc
import RunLoops
import RunLoopsDiagnostics

/// Uses the processor for so long; time without a processor does not count.
@inline(never)
func spinHard(_ time: Duration) {
    let end = threadTime() + time
    while threadTime() < end {}
}

func threadTime() -> Duration {
    var time = timespec()
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
    return .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec)
}

/// Sleeps, and would notice if it were waked: a sample must not end a sleep.
@inline(never)
func takeANap(_ time: Duration) {
    var time = timespec(
        tv_sec: Int(time.components.seconds), tv_nsec: Int(time.components.attoseconds / 1_000_000_000))
    if nanosleep(&time, nil) != 0 { say("the nap was interrupted") }
}

// SAFETY: made once, never destroyed; the mutex guards nothing but itself.
nonisolated(unsafe) private let mutex = {
    let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
    pthread_mutex_init(mutex, nil)
    return mutex
}()

@inline(never)
func waitForTheLock() {
    pthread_mutex_lock(mutex)
    pthread_mutex_unlock(mutex)
}

/// Plays `body` while another thread has the lock, for a second.
func holdingLock(_ body: () -> Void) {
    let (begin, wait) = pipes()
    let holder = Thread {
        pthread_mutex_lock(mutex)
        close(begin)
        sleep(1)
        pthread_mutex_unlock(mutex)
    }
    var byte: UInt8 = 0
    _ = read(wait, &byte, 1)
    body()
    holder.join()
}

private func pipes() -> (writing: CInt, reading: CInt) {
    var ends: [CInt] = [0, 0]
    pipe(&ends)
    return (ends[1], ends[0])
}

extension Program {
    /// Other threads have all processors, and the callout gets only what is left: 50 ms of work take much longer.
    static func starved() {
        let processors = sysconf(CInt(_SC_NPROCESSORS_ONLN))
        // Not before the callout: on a busy machine they might be done when it begins.
        let begins = Flag()
        let others = (0..<2 * processors).map { _ in
            Thread {
                while !begins.isSet { usleep(100) }
                spinHard(.milliseconds(500))
            }
        }
        hang("starving") {
            // SCHED_IDLE, which Glibc's module does not name.
            schedule(5)
            begins.set()
            spinHard(.milliseconds(50))
            schedule(SCHED_OTHER)
        }
        for other in others { other.join() }
    }

    private static func schedule(_ policy: CInt) {
        var parameters = sched_param()
        if sched_setscheduler(0, policy, &parameters) != 0 { say("sched_setscheduler: \(errno)") }
    }

    /// Is stopped for three seconds in the middle of its callouts, which are short.
    static func stopped() {
        var last = RunLoop.Instant.now
        var longest = Duration.zero
        var hasAsked = false
        let timer = RunLoop.Timer(.every(.milliseconds(25)), label: "busy") { _ in
            if !hasAsked {
                hasAsked = true
                // In the run: on a busy machine the call may last until the stop, and outside of a run nothing is watched.
                system("(sleep 0.5; kill -STOP \(getpid()); sleep 3; kill -CONT \(getpid())) &")
            }
            let end = RunLoop.Instant.now.advanced(by: .milliseconds(20))
            while RunLoop.Instant.now < end { longest = max(longest, step(&last)) }
            longest = max(longest, step(&last))
            // The watch's thread notices the standstill when it gets a processor.
            if longest > .milliseconds(2500), RunLoop.HangWatch.standstills > 0 { RunLoop.main.stop() }
        }
        RunLoop.main.add(timer, in: .default)
        RunLoop.main.run()
        timer.invalidate()
        say("stopped for \(longest.components.seconds) s")
    }

    private static func step(_ last: inout RunLoop.Instant) -> Duration {
        let now = RunLoop.Instant.now
        defer { last = now }
        return last.duration(to: now)
    }
}
