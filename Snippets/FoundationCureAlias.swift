// Aliases in one file of a module hold for all its files, whatever these import.

import Foundation
import FoundationRunLoop

typealias RunLoop = FoundationRunLoop.RunLoop
typealias Timer = FoundationRunLoop.Timer

let timer = Timer(timeInterval: 0.01, repeats: false) { _ in print("fired after its interval") }
RunLoop.main.add(timer, forMode: .common)
RunLoop.main.run(until: Date(timeIntervalSinceNow: 0.05))
