// One thread waits for a pipe, another handles what has come: a descriptor source here, a signalled source there.

import Glibc
import RunLoops
import RunLoopsKit
import Synchronization

/// The messages that were received and not yet handled.
final class Inbox: Sendable {
    private let messages = Mutex<[String]>([])
    func put(_ message: String) { messages.withLock { $0.append(message) } }
    func takeAll() -> [String] {
        messages.withLock { messages in
            defer { messages = [] }
            return messages
        }
    }
}

var ends: [CInt] = [-1, -1]
guard pipe(&ends) == 0 else { fatalError("no pipe: errno \(errno)") }
let (readEnd, writeEnd) = (ends[0], ends[1])
func send(_ text: String) { _ = write(writeEnd, text, text.utf8.count) }

// The delegate's side: a source that others signal.
let inbox = Inbox()
let arrived = RunLoop.Source.mainActor { _ in
    for message in inbox.takeAll() {
        print("main thread: the delegate gets \(message)")
        if message == "ping" { send("pong") } else { RunLoop.main.stop() }
    }
}
RunLoop.main.add(arrived, in: .default)

// The loader's side: a source that the kernel makes ready.
let loader = try RunLoopThread(name: "loader")
let socket = RunLoop.DescriptorSource.sendable(readEnd) { source, _ in
    var bytes = [UInt8](repeating: 0, count: 64)
    let count = read(source.descriptor, &bytes, bytes.count)
    print("loader thread: \(count) bytes")
    inbox.put(String(decoding: bytes.prefix(count), as: UTF8.self))
    arrived.signal()
    RunLoop.main.wakeUp()
}
try loader.loop.add(socket, in: .default)

send("ping")
RunLoop.main.run()
loader.stop()
loader.join()
