// A service of systemd: it says when it is ready, that it is alive and when it ends, and is given its sockets.

import Glibc
import RunLoops
import RunLoopsEvents

// snippet.CODE
let service = try ManagedService { error in print("the service manager does not hear: \(error)") }
let sockets = try ListenDescriptor.inherited()
let loop = RunLoop.current
var answer = 42

for socket in sockets {
    // One line for each line that comes.
    try loop.answerLines(at: socket, onRefusal: { print($0) }, { question in "\(question) \(answer)" })
}
service.send(.status("Serving \(sockets.count) sockets"))
// snippet.hide
if service.manager == nil { loop.performLocally { kill(getpid(), SIGHUP) } }
// snippet.show
try service.run(
    reload: {
        answer += 1
        // snippet.hide
        if service.manager == nil { kill(getpid(), SIGTERM) }
        // snippet.show
    },
    end: { done in
        print("Saving")
        // Here, or when what takes time is done.
        done()
    }, within: .seconds(10))
// snippet.end
