// Two stops that end nothing, and three that do.

import RunLoops
import RunLoopsTesting

ManualRunLoop.with { manual in
    let loop = manual.loop
    let start = manual.now
    func say(_ text: String) { print("\(start.duration(to: manual.now)): \(text)") }
    // The timer repeats, so the mode never becomes empty and run() does not end by itself.
    let heartbeat = RunLoop.Timer(.every(.seconds(1))) { _ in }
    loop.add(heartbeat, in: .default)

    // Before the run: there is nothing to stop, and nothing is remembered.
    loop.stop()

    // In a nested run: it ends the nested one.
    loop.performLocally(after: .seconds(2)) {
        loop.performLocally(after: .seconds(1)) { loop.stop() }
        loop.run(in: .default, until: nil)
        say("the inner run has ended, the outer has not")
    }

    // In a callout of the run itself.
    loop.performLocally(after: .seconds(5)) { loop.stop() }
    loop.run()
    say("stopped")

    // From inside a nested run, the run that is meant.
    loop.performLocally {
        guard let outer = loop.currentRun else { return }
        loop.performLocally(after: .seconds(1)) {
            loop.stop(outer)
            loop.stop()
        }
        loop.run(in: .default, until: nil)
    }
    loop.run()
    say("both stopped")

    // A flag, and a limit that bounds each wait.
    var isWanted = true
    loop.performLocally(after: .seconds(3)) { isWanted = false }
    while isWanted { loop.run(in: .default, for: .seconds(2)) }
    say("no longer wanted")
}
