// A daemon that ends: SIGTERM closes the door, the connections end, and a limit ends those that do not.

import Glibc
import RunLoops
import RunLoopsEvents

let loop = RunLoop.current

// snippet.CODE
var streams: [ObjectIdentifier: SocketStream] = [:]
var isEnding = false

let listener = try SocketListener(on: .loopback(port: 0)) { _, event in
    guard case .accepted(let socket) = event else { return }
    let stream = SocketStream(socket) { stream, event in
        switch event {
        case .received(let bytes): if !isEnding { stream.isReadingPaused = !stream.write(bytes) }
        case .drained: stream.isReadingPaused = false
        case .ended: stream.finish()
        case .closed, .failed:
            streams[ObjectIdentifier(stream)] = nil
            if isEnding, streams.isEmpty { loop.stop() }
        }
    }
    do {
        try loop.add(stream, in: .default)
        streams[ObjectIdentifier(stream)] = stream
    } catch {
        print("connection refused: \(error)")
    }
}
try loop.add(listener, in: .default)

let termination = try SignalSource(SIGTERM) { source, _ in
    // A second SIGTERM ends the process at once.
    source.invalidate()
    listener.invalidate()
    if streams.isEmpty { return loop.stop() }
    isEnding = true
    for stream in streams.values {
        stream.finish()
        // To see the other side's end. What the other side sends before its end is not answered.
        stream.isReadingPaused = false
    }
    loop.performLocally(after: .seconds(5)) { loop.stop() }
}
try loop.add(termination, in: .common)
// snippet.hide
// Two clients: one ends when the daemon does, the other a while later.
var clients: [SocketStream] = []
var answers = 0
for isPolite in [true, false] {
    let connector = try SocketConnector(to: listener.address) { _, result in
        guard case .success(let socket) = result else { fatalError("\(result)") }
        let client = SocketStream(socket) { client, event in
            switch event {
            case .received:
                answers += 1
                if answers == 2 { kill(getpid(), SIGTERM) }
            case .ended:
                // One more line, which the daemon no longer answers.
                client.write("wait!\n".utf8)
                if isPolite { return client.finish() }
                loop.performLocally(after: .milliseconds(20)) { client.finish() }
            default: break
            }
        }
        client.write("hello\n".utf8)
        clients.append(client)
        do { try loop.add(client, in: .default) } catch { fatalError("\(error)") }
    }
    try loop.add(connector, in: .default)
}
// snippet.show

loop.run()
// snippet.end
print("The daemon has ended, with \(streams.count) connections left.")
