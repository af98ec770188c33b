// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import Foundation
import Glibc
import RunLoops
import RunLoopsConcurrency
import RunLoopsEvents
import Subprocess

import class RunLoops.RunLoop

/// Children of a run loop, of Foundation's `Process` and of swift-subprocess in one program, started in turns.
///
/// Each waits for its own: no status is lost, and no child and no descriptor stays.
@main struct Program {
    static let count = 334

    @MainActor static func main() async throws {
        RunLoop.adoptMain()
        // What each of the three makes once and keeps.
        _ = try await round(2)
        let before = countDescriptors()
        for (name, wrong) in try await round(count) {
            print("\(name): \(count) children, \(wrong) with a wrong status")
        }
        print("descriptors: \(countDescriptors() - before) more than before")
        print("children left: \(waitpid(-1, nil, WNOHANG) == -1 && errno == ECHILD ? "none" : "some")")
    }

    /// How many children of each starter ended with a status that is not their own.
    @MainActor static func round(_ count: Int) async throws -> [(name: String, wrong: Int)] {
        // The loop's children end in turns of the main loop, while this task waits for others.
        var told: [CInt: ChildSource.Status] = [:]
        var expected: [CInt: ChildSource.Status] = [:]
        var sources: [ChildSource] = []
        var wrongProcesses = 0
        var wrongSubprocesses = 0
        for number in 0..<count {
            let code = CInt(number % 200)
            let child = try Child.spawn(.name("sh"), arguments: ["-c", "exit \(code)"])
            expected[child.process] = .exited(code)
            let source = ChildSource.mainActor(child) { _, exit in told[exit.process] = exit.status }
            try RunLoop.main.add(source, in: .common)
            sources.append(source)

            let process = Process()
            process.executableURL = URL(fileURLWithPath: "/bin/sh")
            process.arguments = ["-c", "exit \(code)"]
            let ended = AsyncStream<CInt>.makeStream()
            process.terminationHandler = {
                ended.continuation.yield($0.terminationStatus)
                ended.continuation.finish()
            }
            try process.run()

            let result = try await Subprocess.run(
                .name("sh"), arguments: ["-c", "exit \(code)"], output: .discarded)
            if result.terminationStatus != .exited(code) { wrongSubprocesses += 1 }
            for await status in ended.stream where status != code { wrongProcesses += 1 }
        }
        while sources.contains(where: \.isValid) { try await Task.sleep(for: .milliseconds(10)) }
        let wrongChildren = expected.count { told[$0.key] != $0.value }
        return [("Child.spawn", wrongChildren), ("Process", wrongProcesses), ("swift-subprocess", wrongSubprocesses)]
    }

    static func countDescriptors() -> Int { (0..<CInt(1024)).count { fcntl($0, F_GETFD) >= 0 } }
}
