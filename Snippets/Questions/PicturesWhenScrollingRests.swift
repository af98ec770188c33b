// Rows come into view while the user scrolls; their pictures are set when the scrolling has ended.

import RunLoops
import RunLoopsTesting

ManualRunLoop.with { manual in
    let loop = manual.loop
    try loop.addCommonMode(.tracking)

    var row = 0
    let scrolling = RunLoop.Timer(.every(.milliseconds(100))) { _ in
        row += 1
        let number = row
        print("row \(number) comes into view")
        // A thread has made the picture, and the text is short work.
        loop.performLocally(in: .common) { print("    text of row \(number)") }
        loop.performLocally(in: .default) { print("    picture of row \(number)") }
    }
    loop.add(scrolling, in: .tracking)

    print("the finger goes down")
    manual.advance(by: .milliseconds(300), in: .tracking)
    print("the finger goes up")
    manual.advance(by: .milliseconds(300), in: .default)
}
