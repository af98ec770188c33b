import RunLoops
import RunLoopsKit

final class Decoder: Sendable {
    private let thread: RunLoopThread

    init() throws {
        thread = try RunLoopThread(name: "decoder")
        let cleaning = RunLoop.Timer.sendable(.every(.seconds(3600))) { _ in print("cleaned up") }
        thread.loop.add(cleaning, in: .default)
    }

    @discardableResult
    func decode(_ name: String) -> Bool {
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
print("It takes more work: \(decoder.decode("too-late.png")).")
