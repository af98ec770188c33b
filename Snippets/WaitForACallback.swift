// A program without windows and without async, which waits for a completion handler.

import Dispatch
import RunLoops

/// Stands for a library that calls back on a thread of its own.
func fetch(_ completion: @escaping @Sendable (String) -> Void) {
    DispatchQueue.global().asyncAfter(deadline: .now() + .milliseconds(20)) { completion("the answer") }
}

fetch { answer in
    // On a thread of the library's: the rest belongs to the main thread.
    RunLoop.main.perform {
        print(answer)
        RunLoop.main.stop()
    }
}
RunLoop.main.run()
print("done")
