import RunLoops
import RunLoopsEvents

let script = "for n in 1 2 3; do echo line $n; sleep 0.2; done; exit 7"
let child = try Child.spawn(.path("/bin/sh"), arguments: ["-c", script], output: .pipe)
guard let output = child.standardOutput else { fatalError("the child has no pipe") }

let lines = InputReader(output, as: .lines) { _, event in
    if case .received(let lines) = event {
        for line in lines { print("child: \(line)") }
    } else {
        RunLoop.current.stop()
    }
}
try RunLoop.current.add(lines, in: .default)
RunLoop.current.run()
print("The output has ended.")
