// A program that does not link RunLoopsDiagnostics: Scripts/trace-cost.

import TraceCost

runCommand { _ in }
