// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

// A Qt window whose main thread also serves timers of a run loop, DispatchQueue.main and @MainActor. The key Q ends it.

import CQt
import Glibc
import RunLoops

/// Prints a line at once, also into a file.
func say(_ line: String) {
    print(line)
    fflush(nil)
}

func openDescriptors() -> Int { (0..<1024).count { fcntl($0, F_GETFD) >= 0 } }

ex_application_make()
try QtHost.start()

/// How often the loop has been run by its host.
var runs = 0
RunLoop.main.add(RunLoop.Observer.mainActor(.entry) { _, _ in runs += 1 }, in: .common)

let screen = Screen()
screen.show()
let status = ex_application_run()
if let before = screen.descriptorsAfterDialog {
    say("descriptors: \(openDescriptors() - before) more than after the first dialog")
}
ex_application_delete()
exit(status)
