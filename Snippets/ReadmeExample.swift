// A timer, a block from another thread and the main actor on one loop.
// snippet.hide
// The program of the README; ends by itself after a second.
// snippet.show
import Dispatch
import RunLoops

let loop = RunLoop.current
loop.add(RunLoop.Timer(.every(.milliseconds(300))) { _ in print("tick") }, in: .default)
DispatchQueue.global().async {
    RunLoop.main.perform { print("hello from another thread") }
}
Task { @MainActor in
    try await Task.sleep(for: .seconds(1))
    loop.stop()
}
loop.run()
