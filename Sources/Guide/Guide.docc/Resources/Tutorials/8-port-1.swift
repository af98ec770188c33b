import Foundation

@MainActor
final class Heart {
    private var beats = 0

    func run() {
        let timer = Timer.scheduledTimer(withTimeInterval: 0.1, repeats: true) { _ in
            MainActor.assumeIsolated { self.beat() }
        }
        timer.tolerance = 0.02
        CFRunLoopRun()
        timer.invalidate()
        print("The heart has stopped.")
    }

    private func beat() {
        beats += 1
        print("beat \(beats)")
        // error: cannot find 'CFRunLoopStop' in scope
        if beats == 3 { CFRunLoopStop(CFRunLoopGetMain()) }
    }
}

Heart().run()
