// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

// curl in a run loop: downloads side by side from a server in the same loop, a request without an answer, and rest.

import CCurl
import RunLoops
import RunLoopsEvents

@main struct CurlExample {
    static func main() throws {
        curl_global_init(Int(CURL_GLOBAL_DEFAULT))
        let before = try Rest.countDescriptors()
        try show()
        // The server notices that its clients have gone.
        RunLoop.current.run(in: .default, for: .milliseconds(100))
        print("descriptors left open: \(try Rest.countDescriptors() - before)")
    }

    private static func show() throws {
        let (server, transfers) = (try Server(), try Transfers())
        var lines: [String] = []
        func note(_ line: String) {
            lines.append(line)
            if lines.count == 6 { RunLoop.current.stop() }
            guard lines.count == 5 else { return }
            // With nothing else to do, so that the time alone ends it.
            transfers.load("\(server.address)/never", within: .milliseconds(300)) { note("/never: \($0)") }
        }
        for size in [0, 1000, 100_000, 10_000_000] {
            transfers.load("\(server.address)/\(size)") { note("/\(size): \($0)") }
        }
        // The connection of a download before serves this one too, which is begun in a callout of the loop.
        let timer = RunLoop.Timer(.after(.milliseconds(100))) { _ in
            transfers.load("\(server.address)/77") { note("/77: \($0)") }
        }
        RunLoop.current.add(timer, in: .default)
        print("run: \(RunLoop.current.run(in: .default, for: .seconds(600)))")
        print(lines.sorted().joined(separator: "\n"))
        print("wake-ups in a quiet second: \(Rest.countWakes())")
        withExtendedLifetime((server, transfers)) {}
    }
}
