// Standard input as it comes, until its end or an error; EventsLines has lines.

import Glibc
import RunLoops

// snippet.CODE
let input = RunLoop.DescriptorSource(STDIN_FILENO) { source, _ in
    var bytes = [UInt8](repeating: 0, count: 4096)
    let count = read(source.descriptor, &bytes, bytes.count)
    if count < 0 { print("not read: \(String(cString: strerror(errno)))") }
    if count <= 0 { return RunLoop.current.stop() }
    print("read \(count) bytes")
}
try RunLoop.current.add(input, in: .default)
RunLoop.current.run()
// snippet.end
