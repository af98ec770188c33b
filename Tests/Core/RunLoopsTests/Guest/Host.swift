// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import Glibc
import RunLoopsTestSupport

@testable import RunLoops

/// A host as simple as can be: waits for one descriptor, and nothing else.
struct Host {
    let loop: RunLoop
    let descriptor: CInt

    /// Makes the loop a guest, and lets it do what there is at the beginning.
    init(_ loop: RunLoop, in mode: RunLoop.Mode = .default) throws {
        self.loop = loop
        descriptor = try loop.pollDescriptor
        loop.runReady(in: mode)
    }

    /// Whether the descriptor is readable now.
    var isReady: Bool { isReadable(within: .zero) }

    /// Waits until it is readable, for `duration` at most.
    func isReadable(within duration: Duration) -> Bool {
        var one = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        let milliseconds = CInt(duration / .milliseconds(1))
        var result: CInt
        repeat { result = poll(&one, 1, milliseconds) } while result < 0 && errno == EINTR
        return result > 0
    }

    /// Waits and runs until `condition` holds; how often it ran, or `nil` if nothing came for plenty of time.
    func run(in mode: RunLoop.Mode = .default, until condition: () -> Bool) -> Int? {
        var runs = 0
        while !condition() {
            guard isReadable(within: plenty) else { return nil }
            loop.runReady(in: mode)
            runs += 1
        }
        return runs
    }
}

/// Runs `body` on a thread of its own with a loop on the real kernel that is a guest.
func withGuest<Result: Sendable>(
    calls: any KernelCalls = LinuxCalls.shared, _ body: @escaping @Sendable (Host) throws -> Result
) throws -> Result {
    try withRealLoop(calls: calls) { loop in
        Swift.Result<Result, any Error> { try body(Host(loop)) }
    }.get()
}

/// A place for the closures of a test that are called on the thread that looks.
final class Calls {
    var names: [String] = []
}
