// Three waits for an answer: of a thread that lives, of a dead one, and of one that does not run its loop.

import Dispatch
import RunLoops
import RunLoopsKit

@Sendable func show(_ whom: String, _ answer: () throws -> Int) {
    do {
        print("\(whom): \(try answer())")
    } catch RunLoop.PerformError.threadEnded(_, let thread) {
        print("\(whom): no answer, thread \(thread.name ?? "without a name") has ended")
    } catch RunLoop.PerformError.notStarted(_, _, let limit) {
        print("\(whom): no answer within \(limit)")
    } catch {
        print("\(whom): \(error)")
    }
}

let worker = try RunLoopThread(name: "worker")
show("alive") { try worker.performAndWait { 6 * 7 } }

worker.stop()
worker.join()
show("dead") { try worker.performAndWait { 6 * 7 } }

// The main thread waits here, and not in its loop.
let asked = DispatchSemaphore(value: 0)
DispatchQueue.global().async {
    show("asleep") { try RunLoop.main.performAndWait(startingWithin: .milliseconds(10)) { 6 * 7 } }
    asked.signal()
}
asked.wait()
