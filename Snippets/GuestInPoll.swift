// A run loop inside a loop that has the thread already, here one of poll(2).

import Glibc
import RunLoops

// snippet.hide
let loop = RunLoop.current
var isOver = false
// snippet.show
loop.add(RunLoop.Timer(.after(.milliseconds(20))) { _ in isOver = true }, in: .default)

var polled = [
    // The host's own descriptors, and one for everything that the loop waits for.
    pollfd(fd: STDIN_FILENO, events: 0, revents: 0),
    pollfd(fd: try loop.pollDescriptor, events: Int16(POLLIN), revents: 0),
]
while !isOver {
    // What was left without a wake-up is found before the host sleeps, as the loop itself would find it.
    let timeout: CInt = loop.prepareToPoll() ? 0 : -1
    poll(&polled, nfds_t(polled.count), timeout)
    if timeout == 0 || polled[1].revents != 0 { loop.runReady() }
}
// snippet.hide
print("The timer has fired under poll.")
