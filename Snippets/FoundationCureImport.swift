// A file that imports Foundation as well, or a module that exports it: one line for each name says which is meant.

import Foundation
import FoundationRunLoop

import class FoundationRunLoop.RunLoop
import class FoundationRunLoop.Timer

let timer = Timer(timeInterval: 0.01, repeats: false) { _ in print("fired after its interval") }
RunLoop.main.add(timer, forMode: .common)
RunLoop.main.run(until: Date(timeIntervalSinceNow: 0.05))
