// The three kinds of closures, for event sources as for everything else that you add to a loop.

import Dispatch
import Glibc
import RunLoops
import RunLoopsEvents

@MainActor
final class Screen {
    var text = ""
}

// snippet.CODE
let screen = Screen()
// The main actor's state: made anywhere, added from anywhere, to the main loop.
let resized = try SignalSource.mainActor(SIGWINCH) { source, _ in
    screen.text = "drawn anew"
    source.invalidate()
}
try RunLoop.main.add(resized, in: .common)

// Any loop, and any thread may invalidate it.
let hangUp = try SignalSource.sendable(SIGHUP) { _, _ in print("reading the settings again") }
try RunLoop.main.add(hangUp, in: .common)
DispatchQueue.global().async { hangUp.invalidate() }
// snippet.end

kill(getpid(), SIGWINCH)
RunLoop.main.run(in: .default, for: .milliseconds(50))
print(screen.text)
