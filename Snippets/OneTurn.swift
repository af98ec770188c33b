// One run of two turns, printed point by point.
//
// snippet.hide
// Ends by itself after 50 milliseconds.
// snippet.show
import RunLoops

let loop = RunLoop.current
let points = RunLoop.Observer(.all) { _, activity in print(activity) }
loop.add(points, in: .default)

let source = RunLoop.Source { _ in print("    the source is performed") }
loop.add(source, in: .default)

let timer = RunLoop.Timer(.after(.milliseconds(50))) { _ in
    print("    the timer fires")
    loop.stop()
}
loop.add(timer, in: .default)

loop.performLocally { print("    the block runs") }
source.signal()
print(loop.run(in: .default, for: .seconds(5)))
