// Commands through a named pipe: echo reload >commands

import Glibc
import RunLoops
import RunLoopsEvents

// snippet.hide
var template = Array("/tmp/events-pipe-XXXXXX".utf8CString)
let directory = template.withUnsafeMutableBufferPointer { String(cString: mkdtemp($0.baseAddress!)) }
chdir(directory)
// snippet.show
// snippet.CODE
let path = "commands"
guard mkfifo(path, 0o600) == 0 || errno == EEXIST else { fatalError("mkfifo: errno \(errno)") }
// For writing, too: with a writer of its own the pipe has no end when a shell has written its line.
let pipe = try RunLoop.File(adopting: open(path, O_RDWR | O_NONBLOCK | O_CLOEXEC))
let commands = InputReader(pipe, as: .lines(limit: 256)) { _, event in
    switch event {
    case .received(let lines): for line in lines { print("command:", line) }
    case .failed(let error): print("no commands any more:", error)
    case .ended: break
    }
}
try RunLoop.main.add(commands, in: .common)
// snippet.end
// snippet.hide
let writer = try Child.spawn(.path("/bin/sh"), arguments: ["-c", "echo reload >\(path); echo stop >\(path)"])
let end = ChildSource(writer) { _, _ in RunLoop.main.perform { RunLoop.main.stop() } }
try RunLoop.main.add(end, in: .common)
// snippet.show
RunLoop.main.run()
// snippet.hide
unlink(path)
rmdir(directory)
