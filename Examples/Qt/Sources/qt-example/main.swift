// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

// A Qt window whose main thread also serves timers of a run loop, DispatchQueue.main and @MainActor. The key Q ends it.
//
//   qt-example             the window
//   qt-example handler     measures work that the button's handler gives to the loops, prints, and ends with 0 if all is well

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

let screen = Screen()
let measuresHandler = CommandLine.arguments.dropFirst().first == "handler"
if measuresHandler { screen.showHandler() } else { screen.show() }
var status = ex_application_run()
if status == 0, measuresHandler, !screen.isHandlerServed { status = 1 }
if let before = screen.descriptorsAfterDialog {
    say("descriptors: \(openDescriptors() - before) more than after the first dialog")
}
ex_application_delete()
exit(status)
