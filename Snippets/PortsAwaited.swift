// A task asks a port, in this process or another, and no thread waits for the answer.

import RunLoops
import RunLoopsConcurrency
import RunLoopsPorts

@main struct App {
    static func main() async throws {
        RunLoop.adoptMain()
        let (port, questions) = try RunLoop.main.messages()
        Task {
            for await question in questions {
                try question.replyTo?.send(RunLoop.MessagePort.Message(text: question.text.uppercased()))
            }
        }
        let reply = try await port.sender.request(
            RunLoop.MessagePort.Message(text: "hello"), on: .main, within: .seconds(5))
        print(reply.text)
        port.invalidate()
        do {
            _ = try await port.sender.request(
                RunLoop.MessagePort.Message(text: "anybody there?"), on: .main, within: .seconds(5))
        } catch RunLoop.PortError.dead {
            print("the port is gone")
        }
    }
}
