// A timer on a thread that nobody runs a loop on, as in a test; and the same timer in virtual time.

import Dispatch
import Glibc
import RunLoops
import RunLoopsTesting

/// The code under test, which does not know of the test.
final class Reminder {
    private(set) var calls = 0

    init(every pause: Duration) {
        let timer = RunLoop.Timer(.every(pause), label: "reminder") { [weak self] _ in self?.calls += 1 }
        RunLoop.current.add(timer, in: .default)
    }
}

// A test function has a thread of its own, and sleeps there.
let done = DispatchSemaphore(value: 0)
DispatchQueue.global().async {
    let reminder = Reminder(every: .milliseconds(10))
    usleep(50_000)
    print("the thread has slept: \(reminder.calls == 0 ? "never called" : "called")")

    // The loop of this thread runs for a while, in real time.
    RunLoop.current.run(in: .default, for: .milliseconds(50))
    print("its loop has run: \(reminder.calls == 0 ? "never called" : "called")")
    done.signal()
}
done.wait()

// A day passes at once, on any thread.
ManualRunLoop.with { manual in
    let reminder = Reminder(every: .seconds(3600))
    manual.advance(by: .seconds(24 * 3600))
    print("a day in virtual time: called \(reminder.calls) times")
}
