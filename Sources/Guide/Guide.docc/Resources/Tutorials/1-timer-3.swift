import RunLoops

let loop = RunLoop.current
let timer = RunLoop.Timer(.after(.milliseconds(500))) { _ in
    print("Half a second is over.")
}
loop.add(timer, in: .default)
let result = loop.run(in: .default, for: .seconds(1))
print("The run has ended: \(result)")
