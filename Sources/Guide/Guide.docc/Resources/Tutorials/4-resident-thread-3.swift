import RunLoopsKit

final class Decoder: Sendable {
    private let thread: RunLoopThread

    init() throws { thread = try RunLoopThread(name: "decoder") }

    func decode(_ name: String) {
        thread.post { print("decoded: \(name)") }
    }

    func width(of name: String) throws -> Int {
        try thread.performAndWait { name.count * 100 }
    }

    func finish() {
        thread.stop()
        thread.join()
    }
}

let decoder = try Decoder()
decoder.decode("sunrise.png")
decoder.decode("sunset.png")
print("The width is \(try decoder.width(of: "sunset.png")).")
decoder.finish()
print("The thread has ended.")
