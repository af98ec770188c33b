// Asking other threads for a result, and what happens when they cannot give it.

import RunLoops
import RunLoopsKit

// snippet.WAIT
let worker = try RunLoopThread(name: "worker")
let sum = try worker.performAndWait { (1...100).reduce(0, +) }
print("the worker's answer: \(sum)")

do {
    // The worker waits for the main thread, which waits for the worker.
    try worker.performAndWait { try RunLoop.main.performAndWait {} }
} catch let error as RunLoop.PerformError {
    print(error)
}
// snippet.end

// snippet.REQUESTS
let later = RunLoop.main.performRequest(after: .milliseconds(10)) { print("ten milliseconds later") }
let never = RunLoop.main.performRequest(after: .milliseconds(5)) { print("never printed") }
never.cancel()
RunLoop.main.run(in: .default, for: .milliseconds(20))
print("still pending: \(later.isPending)")
// snippet.end
