// One use alone: the name of the module before the name.

import Foundation
import FoundationRunLoop

#if compiler(>=6.3)
let timer = FoundationRunLoop::Timer(timeInterval: 0.01, repeats: false) { _ in print("fired after its interval") }
FoundationRunLoop::RunLoop.main.add(timer, forMode: .common)
FoundationRunLoop::RunLoop.main.run(until: Date(timeIntervalSinceNow: 0.05))
#endif
