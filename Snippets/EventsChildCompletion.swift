// A child that has a tenth of a second: how it ended, and all that it has said.

import RunLoops
import RunLoopsEvents

let loop = RunLoop.current

// snippet.CODE
let command = "echo 42; echo careful >&2; sleep 60; echo late"
// In a group of its own: what the shell has started ends with the shell.
let child = try Child.spawn(.name("sh"), arguments: ["-c", command], output: .pipe, error: .pipe, group: .new)

let completion = ChildCompletion(child, limit: 65536, timeLimit: .milliseconds(100)) { _, result in
    switch result {
    case .success(let report): print(report.exit.status, report.outputText, report.errorText)
    case .failure(let failure): print(failure, failure.report.outputText)
    }
    loop.stop()
}
try loop.add(completion, in: .default)
loop.run()
// snippet.end
