// Runs a command, and again at each change of a path or at the space bar: `rerun PATH COMMAND…`

import Glibc
import RunLoops
import RunLoopsEvents
import RunLoopsTerminal

// snippet.RERUN
@MainActor final class Rerun {
    private let terminal: RawTerminal
    private let path: String
    private let command: [String]
    private var child: Child?
    /// Whether something has changed since the command was started.
    private var isStale = false

    init(_ path: String, _ command: [String]) throws {
        (self.path, self.command) = (path, command)
        // Single keys. Ctrl-C and Ctrl-Z do what they do in every tool.
        terminal = try RawTerminal()
        terminal.eventHandler = { [unowned self] event in
            guard case .key(let press) = event else { return }
            switch press.key {
            case .character(" "): run()
            case .character("e"): Task { await edit() }
            case .character("q"): end()
            default: break
            }
        }
        let watch = try FileWatch.mainActor(
            [path], recursive: true, coalescing: .milliseconds(50)
        ) { [unowned self] _, _ in run() }
        try RunLoop.main.add(watch, in: .common)
        run()
    }

    private func run() {
        isStale = child != nil
        if isStale { return }
        do {
            // The keys are for this program; what the command writes goes straight to the terminal.
            let child = try Child.spawn(.name(command[0]), arguments: Array(command.dropFirst()), input: .null)
            let end = ChildSource.mainActor(child) { [unowned self] _, exit in
                self.child = nil
                terminal.write("→ \(exit.status). Space runs again, e edits, q ends.\n")
                if isStale { run() }
            }
            try RunLoop.main.add(end, in: .common)
            self.child = child
        } catch {
            terminal.write("\(command[0]): \(error)\n")
        }
    }

    private func edit() async {
        let editor = getenv("EDITOR").map { String(cString: $0) } ?? "vi"
        do {
            // The editor has the terminal, and this program's loop goes on.
            _ = try await terminal.withTerminalReleased {
                try await RunLoop.main.exit(of: Child.spawn(.name(editor), arguments: [path]))
            }
        } catch {
            terminal.write("\(editor): \(error)\n")
        }
    }

    private func end() {
        terminal.close()
        exit(0)
    }
}

let arguments = CommandLine.arguments.dropFirst()
guard arguments.count > 1, let path = arguments.first else {
    print("usage: rerun PATH COMMAND…")
    exit(2)
}
do {
    let rerun = try Rerun(path, Array(arguments.dropFirst()))
    RunLoop.main.run()
    withExtendedLifetime(rerun) {}
} catch {
    print(error)
    exit(1)
}
// snippet.end
