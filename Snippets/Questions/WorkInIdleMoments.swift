// Five thumbnails, made two at a time while there is nothing else to do. A touch comes in between.

import RunLoops
import RunLoopsKit

let loop = RunLoop.current
let touch = RunLoop.Source { _ in print("the touch is handled") }
loop.add(touch, in: .default)

let points = RunLoop.Observer([.beforeWaiting, .afterWaiting]) { _, activity in print(activity) }
loop.add(points, in: .default)

let queue = RunLoop.IdleQueue(limits: .init(count: 2, time: .seconds(60)))
for number in 1...5 {
    queue.add {
        print("    thumbnail \(number)")
        if number == 1 { touch.signal() }
        if number == 5 { loop.stop() }
    }
}
loop.run()
