// A hundred changes, one notification.

import RunLoops
import RunLoopsKit

// snippet.QUEUE
let queue = RunLoop.NotificationQueue()
queue.observe("changed") { notification in print("changed, \(notification.payload ?? "")") }

RunLoop.current.performLocally {
    for count in 1...100 {
        queue.post(RunLoop.NotificationQueue.Notification("changed", payload: count), .whenIdle, coalescing: .name)
    }
    print("posted")
}
RunLoop.current.run(in: .default, for: .milliseconds(10))
// snippet.end
