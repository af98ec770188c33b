// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

// What of Foundation's main loop is served while this package's main loop has the main thread. The first argument is the scene, the
// others are the scene's. A scene ends when it has seen what it waits for, and goes on for ever when that never comes.

import Foundation
import RunLoops
import RunLoopsFoundation

switch CommandLine.arguments.dropFirst().first {
case "items": try playItems(Driver(rawValue: CommandLine.arguments[2]).unsafelyUnwrapped)
case "nested": playNested()
case "idle": playIdle()
case "modes": playModes()
case "sources": playSources()
case "main-queue": playMainQueue()
case "hosted": try playHosted()
case "host-callbacks": try playHostCallbacks()
case "few-descriptors": playFewDescriptors()
case "misfit": playMisfit(CommandLine.arguments[2])
case "fork": playFork()
case "closed-streams": playClosedStreams()
case "random": playRandom(from: Int(CommandLine.arguments[2]) ?? 0, count: Int(CommandLine.arguments[3]) ?? 0)
case "lateness": playLateness()
default:
    print("Which scene?")
    exit(2)
}
