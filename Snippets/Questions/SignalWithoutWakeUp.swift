// A thread signals a source of a sleeping loop, and forgets to wake the loop.

import Dispatch
import Glibc
import RunLoops

let loop = RunLoop.main
let inbox = RunLoop.Source.mainActor { _ in
    print("performed")
    loop.stop()
}
loop.add(inbox, in: .default)

DispatchQueue.global().async {
    while !loop.isWaiting { usleep(1000) }

    inbox.signal()
    usleep(50_000)
    print("after the signal: asleep \(loop.isWaiting), still signalled \(inbox.isSignalled)")

    loop.wakeUp()
}
loop.run()
