// A child process and its end.

import Glibc
import RunLoops
import RunLoopsEvents

// snippet.CODE
var process: pid_t = 0
var arguments = [strdup("sh"), strdup("-c"), strdup("exit 7"), nil]
posix_spawn(&process, "/bin/sh", nil, nil, &arguments, nil)

let child = try ChildSource(process) { source, exit in
    print("process \(source.process): \(exit.status), \(exit.usage?.userTime ?? .zero) of computing")
    RunLoop.current.stop()
}
try RunLoop.current.add(child, in: .default)
RunLoop.current.run()
// snippet.end
