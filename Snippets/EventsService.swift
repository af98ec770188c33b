// A service of systemd: it says when it is ready, and that it is alive, and is given its sockets.

import Glibc
import RunLoops
import RunLoopsEvents

// snippet.CODE
let sockets = try ListenDescriptor.inherited()
let manager = try NotifySocket.fromEnvironment(unsetting: true)
let loop = RunLoop.current

for socket in sockets {
    let listener = try SocketListener(adopting: socket) { listener, event in
        if case .accepted(let socket) = event { print("\(listener.label): \(socket)") }
    }
    try loop.add(listener, in: .default)
}
let termination = try SignalSource(SIGTERM) { _, _ in
    try? manager?.send(.stopping, .status("Saving"))
    loop.stop()
}
try loop.add(termination, in: .common)
if let timer = try manager?.watchdogTimer(onFailure: { print("the service manager does not hear: \($0)") }) {
    loop.add(timer, in: .common)
}
try? manager?.send(.ready, .status("Serving \(sockets.count) sockets"))
// snippet.hide
if manager == nil { kill(getpid(), SIGTERM) }
// snippet.show
loop.run()
// snippet.end
