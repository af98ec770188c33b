// A second thread for a test, with a running loop.

import RunLoops
import RunLoopsTesting

// snippet.INBOX
/// The code under test: any thread sends, and the loop's thread receives.
struct Inbox: Sendable {
    let loop: RunLoop
    let receive: @Sendable (String) -> Void

    func send(_ text: String) {
        loop.perform { receive(text) }
    }
}
// snippet.end

// snippet.TEST
try RunLoop.TestThread.with(name: "inbox") { thread in
    let inbox = Inbox(loop: thread.loop) { text in
        precondition(RunLoop.current === thread.loop)
        print(text)
    }
    inbox.send("from the thread of the test")
    // The closure runs after the blocks that came before it.
    let mode = try thread.sync { loop in loop.currentMode }
    precondition(mode == .default)
}
// snippet.end
