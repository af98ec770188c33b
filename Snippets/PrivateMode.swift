// A run in a mode of its own: only the answer gets through.

import Dispatch
import RunLoops

let awaitingAnswer: RunLoop.Mode = "org.example.awaiting-answer"
let answer = RunLoop.Source.mainActor { _ in print("the answer is there") }
RunLoop.main.add(answer, in: awaitingAnswer)

DispatchQueue.global().async {
    answer.signal()
    RunLoop.main.wakeUp()
}
let result = RunLoop.main.run(in: awaitingAnswer, for: .seconds(5), returnsAfterSource: true)
print(result == .handledSource ? "in time" : "nobody has answered")
