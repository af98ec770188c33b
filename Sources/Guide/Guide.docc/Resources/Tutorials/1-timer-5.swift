import RunLoops

let loop = RunLoop.current
var count = 0
let timer = RunLoop.Timer(.every(.milliseconds(500))) { _ in
    count += 1
    print("tick \(count)")
    if count == 3 { loop.stop() }
}
loop.add(timer, in: .default)
loop.run()
print("The run has ended.")
