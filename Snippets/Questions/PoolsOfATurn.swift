// Two objects that are handed over in two turns, and the moments at which the pool releases them.

import RunLoops
import RunLoopsKit

final class Buffer {
    private let number: Int
    init(_ number: Int) { self.number = number }
    deinit { print("    buffer \(number) is released") }
}

let loop = RunLoop.current
let pool = RunLoop.ReleasePool(in: [.default])
let points = RunLoop.Observer([.entry, .beforeWaiting, .afterWaiting, .exit]) { _, activity in print(activity) }
loop.add(points, in: .default)

var fires = 0
let timer = RunLoop.Timer(.every(.milliseconds(10))) { _ in
    fires += 1
    print("    buffer \(fires) is handed over")
    RunLoop.ReleasePool.hold(Buffer(fires))
    if fires == 2 { loop.stop() }
}
loop.add(timer, in: .default)
print(loop.run(in: .default, until: nil))
