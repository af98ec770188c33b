// A run loop inside another loop that has the thread already, here a loop on poll(2).

import Glibc
import RunLoops

// snippet.hide
let loop = RunLoop.current
var isOver = false
// snippet.show
loop.add(RunLoop.Timer(.after(.milliseconds(20))) { _ in isOver = true }, in: .default)

var polled = [
    // The host's own descriptors, and one descriptor for everything that the loop waits for.
    pollfd(fd: STDIN_FILENO, events: 0, revents: 0),
    pollfd(fd: try loop.pollDescriptor, events: Int16(POLLIN), revents: 0),
]
while !isOver {
    // Before the host sleeps, the loop finds what was left without a wake-up, as it would by itself.
    let timeout: CInt = loop.prepareToPoll() ? 0 : -1
    poll(&polled, nfds_t(polled.count), timeout)
    if timeout == 0 || polled[1].revents != 0 { loop.runReady() }
}
// snippet.hide
print("The timer has fired under poll.")
