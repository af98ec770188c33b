// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import Glibc
import RunLoops
import RunLoopsTestingHangs
import Testing

/// The continuations that hanging tests wait for.
let kept = Guarded<[CheckedContinuation<Void, Never>]>([])
let tasks = Guarded<[String: Task<Void, Never>]>([:])

/// Waits until another test has ended: all tests of this program have to run beside each other.
func valueOfTask(_ name: String) async {
    while true {
        if let task = tasks.withLock({ $0[name] }) { return await task.value }
        await Task.yield()
    }
}

extension Trait where Self == ConditionTrait {
    /// The runner of all tests links these tests too, since a test target depends on their program, and leaves them out.
    static var onlyInItsProgram: Self {
        .enabled(if: CommandLine.arguments.first?.hasSuffix("/RunLoopsTestingHangsPrograms") == true)
    }
}

@Suite("Tests that hang", .onlyInItsProgram, .reportsHang(after: .seconds(3)))
struct HangingTests {
    @MainActor @Test(arguments: 1...2)
    func `a wake-up of the main actor is lost`(number: Int) async {
        await withCheckedContinuation { one in kept.withLock { $0.append(one) } }
    }

    @Test(arguments: 1...2)
    func `two tasks wait for each other`(number: Int) async {
        let (ping, pong) = ("ping \(number)", "pong \(number)")
        tasks.withLock {
            $0[ping] = Task(name: ping) { await valueOfTask(pong) }
            $0[pong] = Task(name: pong) { await valueOfTask(ping) }
        }
        await valueOfTask(ping)
    }

    @Test(arguments: 1...2)
    func `a child never ends`(number: Int) {
        var status: CInt = 0
        let child = spawnChild()
        waitpid(child, &status, 0)
    }

    @MainActor @Test(arguments: 1...2)
    func `the main thread is blocked`(number: Int) {
        while true { pause() }
    }

    @Test(arguments: 1...2)
    func `a loop never ends`(number: Int) {
        var steps: UInt64 = 0
        while true { steps &+= UInt64(number) }
    }
}

/// Starts a child that ends with this process.
private func spawnChild() -> pid_t {
    var pipes: [CInt] = [0, 0]
    pipe(&pipes)
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    posix_spawn_file_actions_adddup2(&actions, pipes[0], STDIN_FILENO)
    posix_spawn_file_actions_addclose(&actions, pipes[1])
    _ = fcntl(pipes[1], F_SETFD, FD_CLOEXEC)
    var child: pid_t = 0
    var words: [UnsafeMutablePointer<CChar>?] = [strdup("cat"), nil]
    defer { free(words[0]) }
    posix_spawnp(&child, "cat", &actions, nil, &words, environ)
    close(pipes[0])
    return child
}

@Suite("Tests that end", .onlyInItsProgram, .reportsHang(after: .seconds(60)))
struct EndingTests {
    @Test(arguments: 1...20)
    func `a test ends`(number: Int) async throws {
        try await Task.sleep(for: .milliseconds(number))
    }

    @Test func `a test that fails has its own issue`() { #expect(1 + 1 == 3) }

    @Test func `a test that throws has its own issue`() throws { throw Thrown() }

    /// The limit of the suite does not apply.
    @Test(.reportsHang(after: .milliseconds(500)))
    func `a limit of its own`() async {
        await withCheckedContinuation { one in kept.withLock { $0.append(one) } }
    }
}

struct Thrown: Error {}

/// Blocks all threads of Swift's pool.
@Suite("Unstructured tasks block the pool", .onlyInItsProgram, .reportsHang(after: .milliseconds(500)))
struct BlockingTests {
    @Test func `all threads of the pool are blocked`() async {
        let blocked = (0..<sysconf(CInt(_SC_NPROCESSORS_ONLN))).map { number in
            Task.detached(name: "blocked \(number)") { while true { pause() } }
        }
        for task in blocked { await task.value }
    }
}

@Suite("An idle process", .onlyInItsProgram, .reportsHang(after: .seconds(1000), idle: .milliseconds(600)))
struct IdleTests {
    @Test func `a test that only waits`() async {
        await withCheckedContinuation { one in kept.withLock { $0.append(one) } }
    }
}
