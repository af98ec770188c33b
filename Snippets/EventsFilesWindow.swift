// A log that grows fast, looked at ten times a second at most.

import Glibc
import RunLoops
import RunLoopsEvents

// snippet.hide
var template = Array("/tmp/events-window-XXXXXX".utf8CString)
let directory = template.withUnsafeMutableBufferPointer { String(cString: mkdtemp($0.baseAddress!)) }
chdir(directory)
let log = open("app.log", O_WRONLY | O_CREAT, 0o600)
// snippet.show
// snippet.CODE
let path = "app.log"
let watch = try FileWatch([path], for: .modified, coalescing: .milliseconds(100)) { _, events in
    // One event, however many lines there are.
    print("\(events.count) event: reading what is new")
    // snippet.hide
    RunLoop.current.stop()
    // snippet.show
}
try RunLoop.current.add(watch, in: .default)
// snippet.end
// snippet.hide
for number in 0..<1000 { dprintf(log, number) }
// snippet.show
RunLoop.current.run()
// snippet.hide
unlink(path)
rmdir(directory)

func dprintf(_ file: CInt, _ number: Int) {
    let line = "line \(number)\n"
    _ = line.withCString { write(file, $0, strlen($0)) }
}
