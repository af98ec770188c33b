// A thread that asks its loop for something later, and never runs the loop.

import Dispatch
import RunLoops

let done = DispatchSemaphore(value: 0)
DispatchQueue.global().async {
    print("1")
    RunLoop.current.perform(after: .zero) { print("2") }
    print("3")
    // Here the thread would end, and the closure with it. Nobody else runs this loop.
    print("still waiting: \(!RunLoop.current.isEmpty(in: .default))")

    // The cure is a run. It ends by itself, since nothing is left in the mode.
    print(RunLoop.current.run(in: .default, until: nil))
    done.signal()
}
done.wait()
