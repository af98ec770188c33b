import RunLoopsKit

final class Decoder: Sendable {
    private let thread: RunLoopThread

    init() throws { thread = try RunLoopThread(name: "decoder") }

    func decode(_ name: String) {
        thread.post { print("decoded: \(name)") }
    }

    func finish() {
        thread.stop()
        thread.join()
    }
}

let decoder = try Decoder()
decoder.decode("sunrise.png")
decoder.decode("sunset.png")
decoder.finish()
print("The thread has ended.")
