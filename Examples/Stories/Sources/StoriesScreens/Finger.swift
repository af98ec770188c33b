// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import LoopUI
import RunLoops

/// A finger for users without a mouse: its touches take the way of all others.
@MainActor final class Finger {
    private static let pause = Duration.milliseconds(100)
    private var timer: RunLoop.Timer?
    private var touch = PointerInput(.began, at: .zero, identifier: 99)

    /// Touches the middle of a view, and drags it; the finger rests before it goes up.
    ///
    /// - Parameters:
    ///   - view: What is touched.
    ///   - step: How far the finger moves in each of four steps.
    ///   - duration: The time from the first movement until the finger goes up.
    func drag(_ view: View, by step: Point, lasting duration: Duration) {
        guard timer == nil, let application = view.window?.application else { return }
        push(.began, at: view.convert(view.bounds.center, to: nil), application)
        var steps = 0
        let timer = RunLoop.Timer(.every(Self.pause), label: "finger") { [weak self] _ in
            MainActor.assumeIsolated {
                guard let self else { return }
                steps += 1
                if steps <= 4 {
                    self.push(.moved, at: self.touch.position + step, application)
                } else if Self.pause * (steps - 1) >= duration {
                    self.lift(.ended, application)
                }
            }
        }
        self.timer = timer
        application.loop.add(timer, in: .common)
    }

    /// Takes the finger away.
    func cancel(_ application: Application) { if timer != nil { lift(.cancelled, application) } }

    private func lift(_ phase: PointerInput.Phase, _ application: Application) {
        timer?.invalidate()
        timer = nil
        push(phase, at: touch.position, application)
    }

    private func push(_ phase: PointerInput.Phase, at position: Point, _ application: Application) {
        (touch.phase, touch.position) = (phase, position)
        application.push(.pointer(touch))
    }
}
