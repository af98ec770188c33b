// An async main whose main actor stays on the main thread. Beside it, ConcurrencyAsyncMainOnFoundation.

import Dispatch
import Glibc
import RunLoops
import RunLoopsConcurrency

@main struct App {
    static func main() async throws {
        RunLoop.adoptMain()
        print("the process is \(getpid())")
        let timer = RunLoop.Timer.mainActor(.after(.milliseconds(10))) { _ in print("timer on thread \(thread())") }
        RunLoop.main.add(timer, in: .common)
        DispatchQueue.main.async { print("queue on thread \(thread())") }
        print("before an await on thread \(thread())")
        try await Task.sleep(for: .milliseconds(50))
        print("after an await on thread \(thread())")
    }
}

// snippet.hide
/// The thread's number.
func thread() -> String {
    var link = [UInt8](repeating: 0, count: 64)
    let count = link.withUnsafeMutableBytes { readlink("/proc/thread-self", $0.baseAddress!, 64) }
    let path = String(decoding: link.prefix(max(0, count)), as: UTF8.self)
    return path.split(separator: "/").last.map(String.init) ?? "?"
}
