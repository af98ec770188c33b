// A program in a terminal of its own: its size, its screen, its keys and its end.

import RunLoops
import RunLoopsEvents

// snippet.CODE
let child = try Child.spawn(
    .name("sh"), environment: .updating(["TERM": "dumb", "PS1": "$ "]), terminal: .init(columns: 80, rows: 24))
guard let terminal = child.terminal, let screen = child.standardOutput, let keys = child.standardInput else {
    fatalError("a child that was spawned with a terminal has one")
}

// Also what is typed: the terminal echoes it.
let reader = InputReader(screen, as: .lines) { _, event in
    switch event {
    case .received(let lines): for line in lines { print(line) }
    // No process has the terminal open any more.
    case .ended: RunLoop.current.stop()
    case .failed(let error): fatalError("not read: \(error)")
    }
}
let writer = OutputWriter(keys) { _, event in
    if case .failed(let error) = event { print("not typed: \(error)") }
}
for source in [reader, writer] { try RunLoop.current.add(source, in: .default) }

writer.write("tty; stty size\n".utf8)
let resizing = RunLoop.Timer(.after(.milliseconds(200))) { _ in
    // As the user does with the mouse: the program receives SIGWINCH.
    do { try terminal.resize(to: .init(columns: 100, rows: 30)) } catch { print(error) }
    // Control-D at the beginning of a line is the end of the input.
    writer.write("stty size\n\u{4}".utf8)
}
RunLoop.current.add(resizing, in: .default)

// As when the window is closed: SIGHUP to the shell and its job, SIGKILL five seconds later if one is left.
let limit = RunLoop.Timer(.after(.seconds(60))) { _ in child.terminate(killAfter: .seconds(5), on: .current) }
RunLoop.current.add(limit, in: .default)
RunLoop.current.run()
// snippet.end
