// A client that knows the name of its server, and no address.

import RunLoops
import RunLoopsEvents

let loop = RunLoop.current

// The server of this example.
let listener = try SocketListener(on: .loopback(port: 0)) { _, event in
    guard case .accepted(let socket) = event else { return }
    let stream = SocketStream(socket) { _, _ in }
    do { try loop.add(stream, in: .default) } catch { print("connection refused: \(error)") }
    stream.write("welcome".utf8)
    stream.finish()
}
try loop.add(listener, in: .default)
let port = listener.address.port ?? 0

// snippet.CALLBACK
let connector = try HostConnector(to: .host("localhost", port), within: .seconds(10)) { _, result in
    switch result {
    case .success(let socket):
        print("connected to port \(socket.peerAddress?.port == port ? "of the server" : "of another")")
    case .failure(let error):
        // Names the host, the reason, and each address that was tried.
        print(error)
    }
    loop.stop()
}
try loop.add(connector, in: .default)
// snippet.end
loop.run()

// snippet.TASK
let task = Task { @MainActor in
    do {
        let socket = try await loop.connect(to: .host("localhost", port), within: .seconds(10))
        print("connected in a task: \(socket.peerAddress != nil)")
    } catch {
        print(error)
    }
    loop.stop()
}
// snippet.end
loop.run()
