// A daemon as it is written for Apple's systems: two timers, and a signal that ends it.

import FoundationRunLoop

@MainActor
final class Daemon {
    private var beats = 0
    private var isRunning = true

    func run() {
        let heartbeat = Timer.scheduledTimer(withTimeInterval: 0.01, repeats: true) { timer in
            if MainActor.assumeIsolated({ self.beat() }) == 5 { timer.invalidate() }
        }
        heartbeat.tolerance = 0.002
        let report = Timer(fire: Date(timeIntervalSinceNow: 0.02), interval: 3600, repeats: true) { _ in
            print("alive")
        }
        RunLoop.main.add(report, forMode: .common)

        signal(SIGTERM, SIG_IGN)
        let terminated = DispatchSource.makeSignalSource(signal: SIGTERM, queue: .main)
        terminated.setEventHandler {
            print("asked to end")
            self.isRunning = false
            CFRunLoopStop(CFRunLoopGetMain())
        }
        terminated.resume()

        while isRunning, RunLoop.main.run(mode: .default, before: .distantFuture) {}
        for timer in [heartbeat, report] { timer.invalidate() }
        print("ended after \(beats) beats")
    }

    private func beat() -> Int {
        beats += 1
        // In place of an administrator.
        if beats == 5 { kill(getpid(), SIGTERM) }
        return beats
    }
}

Daemon().run()
