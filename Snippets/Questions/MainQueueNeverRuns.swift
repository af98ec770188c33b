// A callback is sent to the main queue. It is not called while the main thread waits, and is called once the main loop runs.

import Dispatch
import RunLoops

/// Works in another thread, and calls back on the main thread.
func download(then callback: @escaping @Sendable (String) -> Void) {
    DispatchQueue.global().async {
        let result = "42 bytes"
        DispatchQueue.main.async { callback(result) }
    }
}

let called = DispatchSemaphore(value: 0)
download { result in
    let isMain = RunLoop.current === RunLoop.main
    print("callback with \(result), on the main thread: \(isMain)")
    called.signal()
    RunLoop.main.stop()
}

// The main thread sleeps, so that no thread does the work of its queue.
print("waiting for the callback: \(called.wait(timeout: .now() + .milliseconds(100)))")

// The main loop sleeps as well, and does the work of the queue.
print("running the main loop: \(RunLoop.main.run(in: .default, until: nil))")
