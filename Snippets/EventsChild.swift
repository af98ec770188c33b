// A child process: its input, its output and its end.

import RunLoops
import RunLoopsEvents

// snippet.CODE
let child = try Child.spawn(.name("sort"), input: .pipe, output: .pipe)
guard let input = child.standardInput, let output = child.standardOutput else { fatalError("two pipes") }

let writer = OutputWriter(input) { _, event in
    if case .failed(let error) = event { print("not written: \(error)") }
}
writer.write("pear\napple\n".utf8)
writer.finish()

// The child may end before all of its output is read: both ends count.
var endsToCome = 2
@MainActor func partEnds() {
    endsToCome -= 1
    if endsToCome == 0 { RunLoop.current.stop() }
}

let reader = InputReader(output, as: .lines) { _, event in
    switch event {
    case .received(let lines): for line in lines { print(line) }
    case .ended: partEnds()
    case .failed(let error):
        print("not read: \(error)")
        partEnds()
    }
}

let end = ChildSource(child) { source, exit in
    print("process \(source.process): \(exit.status), \(exit.usage?.userTime ?? .zero) of computing")
    partEnds()
}
for source in [writer, reader, end] { try RunLoop.current.add(source, in: .default) }
RunLoop.current.run()
// snippet.end
