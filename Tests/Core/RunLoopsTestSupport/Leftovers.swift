// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import Glibc
package import Testing

/// What of a process outlives a test: its descriptors, threads and children.
private struct Leftovers: Equatable, CustomStringConvertible {
    /// What the descriptors are open on, without what the loops of threads keep as long as their threads live.
    var descriptors: [String]
    /// The names of threads, without those that Dispatch, Swift and Swift Testing keep.
    var threads: [String]
    var children: [String]

    static var now: Leftovers {
        let kept = ["anon_inode:[eventpoll]", "anon_inode:[eventfd]", "anon_inode:[timerfd]"]
        return Leftovers(
            descriptors: namesOfEntries("/proc/self/fd").map { target("/proc/self/fd/\($0)") }
                // The folder that is being listed is gone, or is one of this process.
                .filter { !kept.contains($0) && $0 != "" && !$0.hasPrefix("/proc/") }.sorted(),
            threads: namesOfOwnThreads(),
            children: namesOfEntries("/proc/self/task")
                .flatMap { firstLine("/proc/self/task/\($0)/children").split(separator: " ").map(String.init) }.sorted()
        )
    }

    var description: String { "descriptors \(descriptors), threads \(threads), children \(children)" }

    private static func target(_ path: String) -> String {
        var bytes = [CChar](repeating: 0, count: 4096)
        let count = max(0, readlink(path, &bytes, bytes.count))
        let name = String(decoding: bytes.prefix(count).map(UInt8.init(bitPattern:)), as: UTF8.self)
        // Two sockets or pipes are equal here, whichever they are.
        return name.hasPrefix("anon_inode") ? name : String(name.prefix { $0 != "[" })
    }
}

/// Fails a test that leaves a descriptor, a thread or a child.
///
/// Others would count along, so it looks only where tests run one at a time. `RUNLOOPS_LEFTOVERS=1` says so.
package struct LeavesNothing: SuiteTrait, TestTrait, TestScoping {
    package var isRecursive: Bool { true }

    package func provideScope(
        for test: Test, testCase: Test.Case?, performing body: @Sendable () async throws -> Void
    ) async throws {
        guard testCase != nil, getenv("RUNLOOPS_LEFTOVERS") != nil else { return try await body() }
        let before = Leftovers.now
        try await body()
        // Threads end, and children are buried, a moment after whoever waited for them goes on.
        var after = Leftovers.now
        for _ in 0..<30_000 where after != before {
            try? await Task.sleep(for: .milliseconds(10))
            after = .now
        }
        #expect(after == before, "something is left: \(after), before \(before)")
    }
}

extension Trait where Self == LeavesNothing {
    /// The test fails if it leaves a descriptor, a thread or a child.
    package static var leavesNothing: Self { LeavesNothing() }
}
