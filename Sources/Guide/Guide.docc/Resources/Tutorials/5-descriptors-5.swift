import RunLoops
import RunLoopsEvents

let script = "for n in 1 2 3; do echo line $n; sleep 0.2; done; exit 7"
let child = try Child.spawn(.path("/bin/sh"), arguments: ["-c", script], output: .pipe)
guard let output = child.standardOutput else { fatalError("the child has no pipe") }

var outputHasEnded = false
var status: ChildSource.Status?
let lines = InputReader(output, as: .lines) { _, event in
    if case .received(let lines) = event {
        for line in lines { print("child: \(line)") }
    } else {
        outputHasEnded = true
        if status != nil { RunLoop.current.stop() }
    }
}
try RunLoop.current.add(lines, in: .default)

let ending = ChildSource(child) { _, exit in
    status = exit.status
    if outputHasEnded { RunLoop.current.stop() }
}
try RunLoop.current.add(ending, in: .default)
RunLoop.current.run()
if case .exited(let code) = status { print("The child has ended with status \(code).") }
