import Foundation

@MainActor
final class Heart {
    private var beats = 0
    private var isBeating = true

    func run() {
        let timer = Timer.scheduledTimer(withTimeInterval: 0.1, repeats: true) { _ in
            MainActor.assumeIsolated { self.beat() }
        }
        timer.tolerance = 0.02
        while isBeating, RunLoop.main.run(mode: .default, before: Date(timeIntervalSinceNow: 0.5)) {}
        timer.invalidate()
        print("The heart has stopped.")
    }

    private func beat() {
        beats += 1
        print("beat \(beats)")
        if beats == 3 { isBeating = false }
    }
}

Heart().run()
