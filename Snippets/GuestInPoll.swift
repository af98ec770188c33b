// A run loop inside another loop that has the thread already, here a loop on poll(2).

import Glibc
import RunLoops

let loop = RunLoop.current
// The host reads lines from a pipe; the loop's timer writes one.
var ends: [CInt] = [-1, -1]
precondition(pipe(&ends) == 0)
let input = ends[0]
loop.add(RunLoop.Timer(.after(.milliseconds(20))) { _ in write(ends[1], "a line\n", 7) }, in: .default)
func serveInput() {
    var bytes = [UInt8](repeating: 0, count: 512)
    let count = read(input, &bytes, bytes.count)
    print("The host has read:", String(decoding: bytes.prefix(max(0, count)), as: UTF8.self), terminator: "")
}
/// The milliseconds until the host's own next date.
let hostTimeout: CInt = 10_000

// A stop in a callout ends runReady(), and its result ends the host.
loop.add(RunLoop.Timer(.after(.milliseconds(40))) { _ in loop.stop() }, in: .default)

var polled = [
    // The host's own descriptors, and one descriptor for everything that the loop waits for.
    pollfd(fd: input, events: Int16(POLLIN), revents: 0),
    pollfd(fd: try loop.pollDescriptor, events: Int16(POLLIN), revents: 0),
]
var isOver = false
while !isOver {
    // Work that was left for the loop without a wake-up does not show at the descriptor.
    while !isOver, loop.prepareToPoll() { isOver = loop.runReady() == .stopped }
    if isOver { break }
    if poll(&polled, nfds_t(polled.count), hostTimeout) < 0 {
        // The handler of a signal has interrupted the wait; poll has not written to revents.
        if errno == EINTR { continue }
        fatalError("poll: \(String(cString: strerror(errno)))")
    }
    if polled[0].revents != 0 { serveInput() }
    if polled[1].revents != 0 { isOver = loop.runReady() == .stopped }
}
print("The loop has ended its host.")
