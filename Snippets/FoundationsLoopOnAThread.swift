// What knows Foundation's own loop alone runs on a thread of its own, and passes its results on.

import FoundationRunLoop

Thread.detachNewThread {
    let timer = Foundation.Timer(timeInterval: 0.01, repeats: true) { _ in
        RunLoop.main.perform { print("Foundation's own timer has fired") }
    }
    Foundation.RunLoop.current.add(timer, forMode: .default)
    Foundation.RunLoop.current.run()
}
RunLoop.main.run(until: Date(timeIntervalSinceNow: 0.05))
