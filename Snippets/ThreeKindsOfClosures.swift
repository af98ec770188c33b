// Where a closure runs says which maker to use.

import Dispatch
import RunLoops

// snippet.LOCAL
/// Not Sendable: it belongs to the thread that made it.
final class Counter {
    var count = 0
}

func runOnThisThread() {
    let counter = Counter()
    // This thread's own state: a plain closure. Adding the timer to the loop of another thread traps.
    let timer = RunLoop.Timer(.every(.milliseconds(10))) { timer in
        counter.count += 1
        if counter.count == 3 { timer.invalidate() }
    }
    RunLoop.current.add(timer, in: .default)
    RunLoop.current.run()
    print("this thread's counter: \(counter.count)")
}
// snippet.end

// snippet.MAINACTOR
@MainActor
final class Screen {
    var lines: [String] = []
}

@MainActor
func showOnScreen() {
    let screen = Screen()
    // The main actor's state: may be made anywhere and added from anywhere, to the main loop only.
    let timer = RunLoop.Timer.mainActor(.after(.milliseconds(10))) { _ in
        screen.lines.append("tick")
        print("the screen's lines: \(screen.lines)")
    }
    RunLoop.main.add(timer, in: .common)
}
// snippet.end

// snippet.SENDABLE
func tell(_ loop: RunLoop) {
    // From elsewhere, for any loop: a @Sendable closure.
    let farewell = RunLoop.Timer.sendable(.after(.milliseconds(100))) { _ in print("told from another thread") }
    loop.add(farewell, in: .default)
    loop.perform { print("performed from another thread") }
}
// snippet.end

// snippet.hide
let finished = DispatchSemaphore(value: 0)
DispatchQueue.global().async {
    runOnThisThread()
    finished.signal()
}
finished.wait()

showOnScreen()
let loop = RunLoop.main
DispatchQueue.global().async { tell(loop) }
loop.run(in: .default, for: .milliseconds(300))
