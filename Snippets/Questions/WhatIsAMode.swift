// A dialog that runs the loop in a mode of its own, inside a callout.

import RunLoops
import RunLoopsTesting

ManualRunLoop.with { manual in
    let loop = manual.loop
    let dialog: RunLoop.Mode = "org.example.dialog"
    func say(_ text: String) { print("\(loop.currentMode?.rawValue ?? "no run"): \(text)") }

    let clock = RunLoop.Timer(.every(.seconds(1))) { _ in say("the clock ticks") }
    loop.add(clock, in: .default)

    loop.performLocally(after: .seconds(1.5)) {
        say("the dialog opens")
        let button = RunLoop.Timer(.after(.seconds(10))) { _ in say("the user presses a button") }
        loop.add(button, in: dialog)  // this makes the mode
        loop.run(in: dialog, until: nil)  // the inner run has no clock
        say("the dialog is closed")
    }
    manual.advance(by: .seconds(12))

    // The dialog's mode has no item left. It stays.
    print(loop.modes.map(\.rawValue))
    print("empty: \(loop.isEmpty(dialog))")
}
