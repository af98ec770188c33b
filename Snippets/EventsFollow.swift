// Settings that are read again whenever the file at their path is another one.

import Glibc
import RunLoops
import RunLoopsEvents

// snippet.hide
var template = Array("/tmp/events-follow-XXXXXX".utf8CString)
let directory = template.withUnsafeMutableBufferPointer { String(cString: mkdtemp($0.baseAddress!)) }
chdir(directory)
// snippet.show
// snippet.CODE
let path = "settings"
let follower = try FileFollower(path) { _, change in
    switch change {
    case .appeared, .replaced, .changed, .truncated: print("\(change): reading the settings")
    case .vanished: RunLoop.current.stop()
    case .unwatched(let error): print("not watched: \(error)")
    }
}
try RunLoop.current.add(follower, in: .default)
// snippet.end
// snippet.hide
fclose(fopen(path, "w"))
RunLoop.current.runTurn()
fclose(fopen(path + ".new", "w"))
rename(path + ".new", path)
RunLoop.current.runTurn()
remove(path)
rmdir(directory)
// snippet.show
RunLoop.current.run()
