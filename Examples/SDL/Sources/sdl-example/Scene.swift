// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import CSDL
import RunLoops
import Synchronization

/// A window with a square, which a timer of the run loop moves and a click puts elsewhere.
@MainActor
final class Scene {
    let window: OpaquePointer
    private let renderer: OpaquePointer
    private var square = SDL_Rect(x: 0, y: 60, w: 60, h: 60)
    private var hasChanged = true
    private var timer: RunLoop.Timer?
    private var steps = 0
    /// How many descriptors were open at the twentieth step.
    private var descriptors = 0
    private var measuresHandler = false
    /// Whether the work of the handler was done in time, and the sleeping program rests.
    private(set) var isWell = true

    init?(title: String) {
        guard SDL_Init(SDL_INIT_VIDEO) == 0, let window = SDL_CreateWindow(title, 0, 0, 360, 180, 0),
            let renderer = SDL_CreateRenderer(window, -1, SDL_RENDERER_SOFTWARE.rawValue)
        else { return nil }
        (self.window, self.renderer) = (window, renderer)
        let timer = RunLoop.Timer.mainActor(.every(.milliseconds(50))) { [weak self] _ in self?.step() }
        RunLoop.main.add(timer, in: .common)
        self.timer = timer
    }

    func close() {
        SDL_DestroyRenderer(renderer)
        SDL_DestroyWindow(window)
        SDL_Quit()
    }

    private func step() {
        steps += 1
        if steps == 20 {
            descriptors = openDescriptors()
            say("timer: 20 steps")
        }
        square.x = (square.x + 6) % 300
        hasChanged = true
    }

    // MARK: The handler

    /// Lets clicks give work to the loops, and ends when that was measured.
    func measureHandler() {
        timer?.invalidate()
        measuresHandler = true
        say("handler: ready")
    }

    private func clickHandler() {
        Handler.click()
        guard Handler.hasAllClicks else { return }
        // What the last click gave.
        Rest.wait(milliseconds: 100)
    }

    private func finishHandler() {
        isWell = Handler.report()
        let sleeps = CommandLine.arguments.contains("sleeping")
        Handler.countSleeps(seconds: 5) { [self] count in
            if sleeps {
                say("sleeps of the main thread in 5 s at rest: \(count)")
                isWell = isWell && count == 0
            }
            RunLoop.main.perform { RunLoop.main.stop() }
        }
    }

    // MARK: Drawing

    func draw() {
        SDL_SetRenderDrawColor(renderer, 24, 28, 40, 255)
        SDL_RenderClear(renderer)
        SDL_SetRenderDrawColor(renderer, 250, 170, 40, 255)
        SDL_RenderFillRect(renderer, &square)
        SDL_RenderPresent(renderer)
        hasChanged = false
        Rest.frames.add(1, ordering: .relaxed)
    }

    func drawIfChanged() { if hasChanged { draw() } }

    // MARK: Events

    func takeEvents() {
        var event = SDL_Event()
        while SDL_PollEvent(&event) != 0 { take(event) }
    }

    private func take(_ event: SDL_Event) {
        switch SDL_EventType(event.type) {
        case SDL_MOUSEBUTTONDOWN where measuresHandler: clickHandler()
        case SDL_MOUSEBUTTONDOWN:
            say("click: at \(event.button.x), \(event.button.y)")
            square = SDL_Rect(x: event.button.x - 30, y: event.button.y - 30, w: 60, h: 60)
            hasChanged = true
        case SDL_WINDOWEVENT where event.window.event == UInt8(SDL_WINDOWEVENT_EXPOSED.rawValue):
            hasChanged = true
        case SDL_KEYDOWN where event.key.keysym.sym == SDL_Keycode(SDLK_q.rawValue):
            say("key: the timer stops")
            timer?.invalidate()
            Rest.begin()
        case SDL_USEREVENT where measuresHandler: finishHandler()
        case SDL_USEREVENT:
            say("at rest: \(Rest.findings)")
            say("descriptors: \(openDescriptors() - descriptors) more than at the beginning")
            RunLoop.main.perform { RunLoop.main.stop() }
        case SDL_QUIT:
            RunLoop.main.perform { RunLoop.main.stop() }
        default: break
        }
    }
}
