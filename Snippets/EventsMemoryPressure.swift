// A source that is called when the machine is short of memory.

import Glibc
import RunLoops

// snippet.CODE
// Within two seconds some task has waited for memory for a quarter of a second.
let threshold = "some 250000 2000000"
let pressure = open("/proc/pressure/memory", O_RDWR | O_NONBLOCK | O_CLOEXEC)
guard pressure >= 0, write(pressure, threshold, threshold.utf8.count + 1) > 0 else {
    print("this kernel does not tell, or not this user")
    exit(0)
}
let source = RunLoop.DescriptorSource(pressure, for: .priority, closes: true) { _, _ in print("memory is short") }
try RunLoop.main.add(source, in: .common)
// snippet.end
RunLoop.main.run(in: .default, for: .milliseconds(50))
