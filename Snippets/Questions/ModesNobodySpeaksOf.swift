// A wait for a reply in a mode of its own, and a dialogue that holds up the rest.

import RunLoops
import RunLoopsTesting

ManualRunLoop.with { manual in
    let loop = manual.loop
    let clock = RunLoop.Timer(.every(.seconds(1))) { _ in print("    the clock ticks") }
    loop.add(clock, in: .common)

    /// Runs the loop in a mode until an answer comes after two and a half seconds.
    func wait(in mode: RunLoop.Mode) {
        let answer = RunLoop.Timer(.after(.seconds(2.5))) { _ in loop.stop() }
        loop.add(answer, in: mode)
        print("\(mode): \(loop.run(in: mode, until: nil))")
    }

    wait(in: .connectionReply)
    wait(in: .modalPanel)
    print("back in \(RunLoop.Mode.default)")
    manual.advance(by: .zero)

    // An application that wants its clock to go on in a dialogue says so.
    try loop.addCommonMode(.modalPanel)
    wait(in: .modalPanel)
    for mode in [RunLoop.Mode.initialization, .taskDeathCheck] {
        print("\(mode): \(loop.isEmpty(in: mode) ? "empty" : "used")")
    }
}
