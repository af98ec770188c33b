// A port with a name, and a sender, in this process or in another process of the same user.

import Dispatch
import RunLoops
import RunLoopsPorts

// snippet.SERVER
let port = RunLoop.MessagePort { message in
    if let log = message.descriptors.first { print("a log to write to: \(log.number > 2)") }
    return RunLoop.MessagePort.Message(text: "it is noon")
}
try RunLoop.current.add(port, in: .default)
try port.publish(as: "clock")
// snippet.end

DispatchQueue.global().async {
    do {
        // snippet.CLIENT
        let clock = try RunLoop.MessagePort.Sender(named: "clock")
        let log = try RunLoop.MessagePort.Descriptor(duplicating: 2)
        let reply = try clock.request(
            RunLoop.MessagePort.Message(text: "what time?", descriptors: [log]), within: .seconds(5))
        print(reply.text)
        // snippet.end
    } catch {
        print("no time: \(error)")
    }
    RunLoop.main.stop()
}
RunLoop.main.run(in: .default, for: .seconds(10))
port.invalidate()
