// Lines of a child and of standard input, in tasks.

import RunLoops
import RunLoopsConcurrency
import RunLoopsEvents

@main struct App {
    static func main() async throws {
        RunLoop.adoptMain()
        let loop = RunLoop.main

        // snippet.CHILD
        let child = try Child.spawn(.name("ls"), arguments: ["-l", "/"], input: .null, output: .pipe)
        if let output = child.standardOutput {
            for try await line in try loop.lines(of: output) { print("ls: \(line)") }
        }
        print("ls: \(try await loop.exit(of: child).status)")
        // snippet.end

        // snippet.INPUT
        for try await line in try loop.lines(of: .standardInput, limit: 4096) {
            print("you typed \(line.count) characters")
        }
        // snippet.end
    }
}
