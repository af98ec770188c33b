// Ten frames, at sixty a second.

import RunLoops
import RunLoopsKit

// snippet.LINK
let link = RunLoop.DisplayLink(framesPerSecond: 60) { frame in
    print("frame \(frame.number), to be ready \(frame.time.duration(to: frame.next)) after it began")
    if frame.number >= 9 { RunLoop.current.stop() }
}
RunLoop.current.run(in: .default, for: .seconds(5))
link.isPaused = true
print("\(link.delivered) frames, \(link.skipped) skipped")
// snippet.end
