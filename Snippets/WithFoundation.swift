// Both modules have a RunLoop; one line says which is meant.

import Foundation
import RunLoops

import class RunLoops.RunLoop

let started = Date()
let timer = RunLoop.Timer(.after(.milliseconds(20))) { _ in
    print("fired after \(Date().timeIntervalSince(started) >= 0.02 ? "20 ms or more" : "too little")")
    RunLoop.current.stop()
}
RunLoop.current.add(timer, in: .default)
RunLoop.current.run()
