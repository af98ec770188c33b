// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

// A program whose tasks are read from another process. The first argument names the scene to play. The program imports no library
// of this package, and ends at the end of its input.

import Glibc

actor Store {
    private var readings = 0

    /// Keeps the actor until the program ends.
    func block() { sleepWithoutEnd() }

    func take() -> Int {
        readings += 1
        return readings
    }
}

/// Blocks the thread; the thread that reads the input ends the program.
func sleepWithoutEnd() {
    while true { pause() }
}

/// What the scenes keep, so that it is not released.
let tasks = Guarded<[Task<Int, Never>]>([])
let kept = Guarded<[CheckedContinuation<Void, Never>]>([])

func keep(_ task: Task<Int, Never>) { tasks.withLock { $0.append(task) } }

func waitForAContinuation() async {
    await withCheckedContinuation { one in kept.withLock { $0.append(one) } }
}

func sleepLong() async { try? await Task.sleep(for: .seconds(100_000)) }

func takeASlot(_ number: Int) async -> Int {
    // The tasks begin before all of them are in the array.
    while true {
        let task = tasks.withLock { number < $0.count ? $0[number] : nil }
        if let task { return await task.value }
        await Task.yield()
    }
}

func waitInOneOfTwoLines(_ isFirst: Bool) async {
    if isFirst {
        await waitForAContinuation()  // The first wait.
    } else {
        await waitForAContinuation()  // The second wait.
    }
}

func download() async -> Int {
    await sleepLong()
    return 1
}

@MainActor func draw() -> Int { 1 }

@main struct Program {
    static func main() async {
        endWithInput()
        let words = CommandLine.arguments.dropFirst()
        let count = words.dropFirst().first.flatMap { Int($0) } ?? 1
        if words.first == "agree", let path = words.last { await Agreement.play(count, path) }
        await play(words.first ?? "", count)
        await sleepLong()
    }

    /// Has another thread, which is not the main actor's, read the input.
    private nonisolated static func endWithInput() {
        var thread = pthread_t()
        pthread_create(
            &thread, nil,
            { _ in
                var byte: UInt8 = 0
                while read(STDIN_FILENO, &byte, 1) > 0 {}
                _exit(0)
            }, nil)
    }

    private static func play(_ scene: String, _ count: Int) async {
        switch scene {
        case "group": await group()
        case "async-let": await asyncLet()
        case "actor": await contend()
        case "main-actor": await blockMainActor()
        case "continuation": await waitForAContinuation()
        case "cancelled": cancel()
        case "deadlock": await deadlock(count)
        case "group-deadlock": await groupDeadlock()
        case "sleeping": await sleeping(count)
        case "detached": detach()
        case "name": name()
        case "lines": for isFirst in [true, false] { Task { await waitInOneOfTwoLines(isFirst) } }
        case "change": await Change.play(count)
        default:
            print("there is no scene \(scene)")
            exit(64)
        }
    }

    private static func group() async {
        await withTaskGroup(of: Int.self) { group in
            for part in 0..<3 { group.addTask(name: "part \(part)") { await download() } }
            for await _ in group {}
        }
    }

    private static func asyncLet() async {
        async let half = download()
        _ = await half
    }

    private static func contend() async {
        let store = Store()
        Task(name: "holder") { await store.block() }
        // The holder begins first, or the taker would not wait.
        Task(name: "taker") {
            while true {
                _ = await store.take()
                await Task.yield()
            }
        }
        await sleepLong()
    }

    @MainActor private static func blockMainActor() {
        Task.detached(name: "painter") { await draw() }
        sleepWithoutEnd()
    }

    private static func cancel() {
        let task = Task(name: "cancelled one") { await waitForAContinuation() }
        task.cancel()
    }

    private static func deadlock(_ count: Int) async {
        for number in 0..<count {
            keep(Task(name: "knot \(number)") { await takeASlot((number + 1) % count) })
        }
        await sleepLong()
    }

    /// The owner of a group waits for a member, which waits for the owner.
    private static func groupDeadlock() async {
        keep(
            Task(name: "owner") {
                await withTaskGroup(of: Int.self) { group in
                    group.addTask(name: "member") { await takeASlot(0) }
                    return await group.next() ?? 0
                }
            })
        await sleepLong()
    }

    private static func sleeping(_ count: Int) async {
        for _ in 0..<count { keep(Task { await download() }) }
        await sleepLong()
    }

    private static func detach() {
        Task.detached(name: "forgotten", priority: .background) { await waitForAContinuation() }
    }

    private static func name() {
        Task(name: "red \u{1B}[31m text") { await waitForAContinuation() }
    }
}
