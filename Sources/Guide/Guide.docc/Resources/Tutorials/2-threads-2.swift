import Dispatch
import RunLoops

DispatchQueue.global().async {
    let sum = (1...100).reduce(0, +)
    RunLoop.main.perform {
        print("The sum is \(sum).")
    }
}
RunLoop.main.run()
