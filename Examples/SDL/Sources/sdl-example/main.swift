// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

// An SDL window whose main thread also serves a run loop. The key Q ends it.
//
//   sdl-example              draws frame after frame, and lets the run loop work in each
//   sdl-example sleeping     sleeps in the run loop until there is something to draw or to read
//   sdl-example HOST handler     HOST is frames or sleeping: clicks give work to the loops; after enough of them it ends, with 0 if all
//                                work was done in time

import CSDL
import Glibc
import RunLoops

/// Prints a line at once, also into a file.
func say(_ line: String) {
    print(line)
    fflush(nil)
}

func openDescriptors() -> Int { (0..<1024).count { fcntl($0, F_GETFD) >= 0 } }

guard let scene = Scene(title: "swift-run-loops under SDL") else { fatalError(String(cString: SDL_GetError())) }
Rest.count()
if CommandLine.arguments.contains("handler") { scene.measureHandler() }

if CommandLine.arguments.dropFirst().first == "sleeping" {
    let descriptor = ex_events_descriptor(scene.window)
    guard descriptor >= 0 else { fatalError("SDL does not use X11 here: nothing says what it waits for.") }
    try runSleeping(scene, descriptor: descriptor)
} else {
    runFrames(scene)
}
scene.close()
exit(scene.isWell ? 0 : 1)
