// Two owners of a thread. The timer of the first holds its owner, the timer of the second does not.

import RunLoops
import RunLoopsKit

/// Asks for something every minute, on a thread of its own.
final class Poller: Sendable {
    let name: String
    let thread: RunLoopThread

    init(_ name: String) throws {
        self.name = name
        thread = try RunLoopThread(name: name)
    }

    func poll() {}

    // Stops the thread, and does not wait: the last reference may go away on the thread itself.
    deinit {
        thread.stop()
        print("\(name): the owner is gone")
    }
}

/// Starts a poller that nobody keeps.
func start(_ name: String, holdsOwner: Bool) throws -> RunLoop.Timer {
    let owner = try Poller(name)
    let timer: RunLoop.Timer =
        if holdsOwner {
            .sendable(.every(.seconds(60))) { _ in owner.runTurn() }
        } else {
            .sendable(.every(.seconds(60))) { [weak owner] _ in owner?.poll() }
        }
    owner.thread.loop.add(timer, in: .default)
    return timer
}

let timer = try start("strong", holdsOwner: true)
print("strong: nobody keeps the owner, and it lives")
// Only this breaks the circle of owner, thread, loop, timer and closure.
timer.invalidate()

_ = try start("weak", holdsOwner: false)
print("weak: nobody keeps the owner, and it does not live")
