// Three threads that are to stay: without an item, with one, and ready made.

import Dispatch
import RunLoops
import RunLoopsKit
import Synchronization

/// Where a new thread leaves its loop for others.
final class Handover: Sendable {
    private let loop = Mutex<RunLoop?>(nil)
    private let ready = DispatchSemaphore(value: 0)
    private let ended = DispatchSemaphore(value: 0)

    /// Starts a thread that runs its loop, and waits until the loop exists.
    init(_ name: String, keeper: RunLoop.Source?) {
        // The queue has a thread for as long as the closure runs.
        DispatchQueue(label: name).async {
            let loop = RunLoop.current
            if let keeper { loop.add(keeper, in: .default) }
            self.loop.withLock { $0 = loop }
            self.ready.signal()
            print("\(name): \(loop.run(in: .default, until: nil))")
            self.ended.signal()
        }
        ready.wait()
    }

    func perform(_ body: @escaping @Sendable (RunLoop) -> Void) {
        guard let loop = loop.withLock(\.self) else { return }
        loop.perform { body(loop) }
    }

    func waitForEnd() { ended.wait() }
}

// Nothing is in the mode: the run is over before anybody can ask for something.
Handover("empty", keeper: nil).waitForEnd()

// Nobody signals this source. It is there so that the mode is not empty.
let kept = Handover("kept", keeper: RunLoop.Source.sendable { _ in })
kept.perform { _ in print("kept: a task") }
kept.perform { $0.stop() }
kept.waitForEnd()

let thread = try RunLoopThread(name: "ready made")
thread.post { print("ready made: a task") }
thread.stop(.draining)
thread.join()
