// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import CSDL
import Glibc
import RunLoops
import RunLoopsEvents

/// SDL's frame loop is the host: in each frame the run loop does what is ready, and nothing waits for its descriptor.
@MainActor
func runFrames(_ scene: Scene) {
    while true {
        let next = SDL_GetTicks64() + 16
        scene.takeEvents()
        // A stop in a callout ends the loop's own run, and so here the run of its host.
        if RunLoop.main.runReady() == .stopped { return }
        scene.draw()
        let now = SDL_GetTicks64()
        if now < next { SDL_Delay(UInt32(next - now)) }
    }
}

/// The run loop is the host: it sleeps until SDL has an event, or a timer has changed what is to be drawn.
@MainActor
func runSleeping(_ scene: Scene, descriptor: CInt) throws(RunLoop.SystemCallError) {
    // Another thread may push an event too, a timer of SDL's for one: that shows at no descriptor. SDL tells its watches
    // and its filter of an event before the event is in the queue: a loop that is woken there may look, find nothing and
    // sleep, and nobody wakes it again. So the main thread pushes the event. Setting the filter empties the queue: nothing in it
    // matters to a scene that has not been drawn yet.
    let filter: SDL_EventFilter = { @Sendable main, event in
        guard let event, SDL_ThreadID() != UInt(bitPattern: main) else { return 1 }
        // SAFETY: a copy, which the main thread alone uses.
        nonisolated(unsafe) var copy = event.pointee
        RunLoop.main.perform { SDL_PushEvent(&copy) }
        return 0
    }
    SDL_SetEventFilter(filter, UnsafeMutableRawPointer(bitPattern: SDL_ThreadID()))
    let source = try PollSource(in: .common, label: "SDL") { wait in
        wait.descriptors = [pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)]
        // Xlib reads ahead: its descriptor does not show events that it has read already, and SDL's queue has others. A
        // program with a joystick also sets a limit: SDL looks at joysticks here, and at no other time.
        SDL_PumpEvents()
        if SDL_HasEvents(0, .max) == SDL_TRUE { wait.limit = .zero }
    } dispatch: { _ in
        scene.takeEvents()
    }
    // Before the source asks SDL: drawing may have Xlib read ahead.
    RunLoop.main.add(.mainActor(.beforeWaiting) { _, _ in scene.drawIfChanged() }, in: .common)
    RunLoop.main.run()
    source.invalidate()
}
