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

DispatchQueue.global().async {
    for number in 1...5 {
        inbox.withLock { $0.append(number) }
        arrived.signal()
    }
}
RunLoop.main.run()
