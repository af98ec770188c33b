import Dispatch
import RunLoops
import Synchronization

let inbox = Mutex<[Int]>([])

let arrived = RunLoop.Source.mainActor { _ in
    let numbers = inbox.withLock { numbers in
        defer { numbers = [] }
        return numbers
    }
    for number in numbers { print("number \(number)") }
}
RunLoop.main.add(arrived, in: .common)
RunLoop.main.run()
