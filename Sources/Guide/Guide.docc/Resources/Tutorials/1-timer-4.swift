import RunLoops

let loop = RunLoop.current
var count = 0
let timer = RunLoop.Timer(.every(.milliseconds(500))) { _ in
    count += 1
    print("tick \(count)")
}
loop.add(timer, in: .default)
let result = loop.run(in: .default, for: .seconds(2))
print("The run has ended: \(result)")
