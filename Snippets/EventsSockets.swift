// An echo service and its client.

import RunLoops
import RunLoopsEvents

let loop = RunLoop.current

// snippet.LISTEN
let listener = try SocketListener(on: .loopback(port: 0)) { _, event in
    guard case .accepted(let socket) = event else { return }
    let stream = SocketStream(socket) { stream, event in
        if case .received(let bytes) = event { stream.isReadingPaused = !stream.write(bytes) }
        if case .drained = event { stream.isReadingPaused = false }
        if case .ended = event { stream.finish() }
    }
    do { try loop.add(stream, in: .default) } catch { print("connection refused: \(error)") }
}
try loop.add(listener, in: .default)
// snippet.end

// snippet.CONNECT
let connector = try SocketConnector(to: listener.address) { _, result in
    guard case .success(let socket) = result else { return print("\(result)") }
    let stream = SocketStream(socket) { _, event in
        if case .received(let bytes) = event { print(String(decoding: bytes, as: UTF8.self)) }
        if case .closed = event { loop.stop() }
    }
    stream.write("hello".utf8)
    stream.finish()
    do { try loop.add(stream, in: .default) } catch { print("not connected: \(error)") }
}
try loop.add(connector, in: .default)
// snippet.end

loop.run()
