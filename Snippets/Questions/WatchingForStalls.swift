// What the usual stall monitor takes for work, and what it takes for sleep.

import RunLoops

/// Two observers and a flag, as most monitors have them.
///
/// A thread of the monitor would look at the flag now and then.
final class Monitor {
    private(set) var isWorking = false
    private var observers: [RunLoop.Observer] = []

    init(_ loop: RunLoop) {
        observers = [
            RunLoop.Observer([.beforeSources, .afterWaiting]) { [unowned self] _, _ in isWorking = true },
            RunLoop.Observer(.beforeWaiting) { [unowned self] _, _ in isWorking = false },
        ]
        for observer in observers { loop.add(observer, in: .default) }
    }

    func saw(_ what: String) { print("\(what): \(isWorking ? "seen" : "taken for sleep")") }
}

let loop = RunLoop.current
let monitor = Monitor(loop)

loop.performLocally { monitor.saw("block, step 4") }
let source = RunLoop.Source { _ in monitor.saw("source, step 5") }
loop.add(source, in: .default)
source.signal()

// What draws the screen is an observer behind the monitor's.
let commit = RunLoop.Observer(.beforeWaiting, order: 2_000_000, repeats: false) { _, _ in
    monitor.saw("commit, step 7")
    loop.performLocally(after: .milliseconds(10)) {
        monitor.saw("timer, step 9")
        loop.stop()
    }
}
loop.add(commit, in: .default)

let entry = RunLoop.Observer(.entry) { _, _ in monitor.saw("entry, step 1") }
loop.add(entry, in: .default)
loop.run()
monitor.saw("after the run")
