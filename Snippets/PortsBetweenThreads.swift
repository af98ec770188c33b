// A port of the main loop, and a thread that asks it.

import Dispatch
import RunLoops
import RunLoopsPorts

// snippet.THREADS
let port = RunLoop.MessagePort { message in
    print("asked: \(message.text)")
    return RunLoop.MessagePort.Message(text: "the answer to \(message.text)")
}
try RunLoop.current.add(port, in: .default)

DispatchQueue.global().async { [sender = port.sender] in
    let answer = try? sender.request(RunLoop.MessagePort.Message(text: "a question"), within: .seconds(5))
    RunLoop.main.perform { print("answered: \(answer?.text ?? "not")") }
    RunLoop.main.perform { RunLoop.main.stop() }
}
RunLoop.main.run(in: .default, for: .seconds(10))
