import RunLoops

let loop = RunLoop.current
let result = loop.run(in: .default, for: .seconds(1))
print("The run has ended: \(result)")
