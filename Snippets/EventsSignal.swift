// A program that ends in good order when it is asked to.

import Glibc
import RunLoops
import RunLoopsEvents

// snippet.CODE
for number in [SIGINT, SIGTERM] {
    let source = try SignalSource(number) { _, delivery in
        let sender = delivery.sender.map { "process \($0.process)" } ?? "the keyboard"
        print("signal \(delivery.signal) from \(sender): saving, and good night")
        RunLoop.current.stop()
    }
    try RunLoop.current.add(source, in: .common)
}
// snippet.hide
kill(getpid(), SIGTERM)
// snippet.show
RunLoop.current.run()
// snippet.end
