// Answers that take time: each line is answered when its answer is ready, in the order of the lines.

import RunLoops
import RunLoopsEvents

let loop = RunLoop.current

/// Starts the service, and returns its client's socket.
func serve() throws -> RunLoop.Socket {
    let (client, server) = try RunLoop.Socket.pair()
    // An answer is ready after as many milliseconds as its line says.
    try loop.answerLines(
        of: RunLoop.File(server), on: RunLoop.File(server),
        later: { line, answer in
            loop.performLocally(after: .milliseconds(Int(line) ?? 0)) { answer.send("\(line) ms are over") }
        })
    return client
}

// The client sends three lines at once.
let stream = SocketStream(try serve()) { _, event in
    switch event {
    case .received(let bytes): print(String(decoding: bytes, as: UTF8.self), terminator: "")
    case .closed: loop.stop()
    default: break
    }
}
try loop.add(stream, in: .default)
stream.write("30\n10\n20\n".utf8)
stream.finish()
loop.run()
