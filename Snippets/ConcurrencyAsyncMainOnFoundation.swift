// The program of ConcurrencyAsyncMain on Foundation's RunLoop, to compare: on Linux the timer does not fire, and what
// comes after the await runs on another thread.

import Foundation

@main struct App {
    static func main() async throws {
        print("the process is \(getpid())")
        let timer = Timer(timeInterval: 0.01, repeats: false) { _ in print("timer on thread \(thread())") }
        RunLoop.main.add(timer, forMode: .common)
        DispatchQueue.main.async { print("queue on thread \(thread())") }
        print("before an await on thread \(thread())")
        try await Task.sleep(for: .milliseconds(50))
        print("after an await on thread \(thread())")
    }
}

// snippet.hide
/// The thread's number.
func thread() -> String {
    let path = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/thread-self")
    return path?.split(separator: "/").last.map(String.init) ?? "?"
}
