// What happens below a directory.

import Glibc
import RunLoops
import RunLoopsEvents

// snippet.hide
var template = Array("/tmp/events-files-XXXXXX".utf8CString)
let directory = template.withUnsafeMutableBufferPointer { String(cString: mkdtemp($0.baseAddress!)) }
// snippet.show
// snippet.CODE
let watch = try FileWatch([directory], recursive: true) { _, events in
    for event in events {
        switch event {
        case .written(let file): print("\(file.path) has new contents")
        case .created(let file): print("\(file.path) was made, or moved here from elsewhere")
        case .moved(let file, let path): print("\(file.path) is now \(path)")
        case .overflowed: print("look at everything again")
        case .vanished: RunLoop.current.stop()
        default: break
        }
    }
}
try RunLoop.current.add(watch, in: .default)
// snippet.end
// snippet.hide
fclose(fopen(directory + "/draft", "w"))
rename(directory + "/draft", directory + "/final")
remove(directory + "/final")
rmdir(directory)
RunLoop.current.run()
